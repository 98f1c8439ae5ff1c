package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.Isola;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola rm}. */
@Command(name = "rm", description = "Destroy sandboxes and their files.")
public final class RemoveCommand extends MultiSandboxCommand {
  @Option(
      names = {"-f", "--force"},
      description = "Destroy a sandbox even if it contains unsaved work.")
  private boolean force;

  public RemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    return forEach(isola, console, "removed", sandbox -> sandbox.destroy(force));
  }
}
