package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.Isola;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola rm}. */
@Command(name = "rm", description = "Destroy sandboxes; nothing of them is left.")
public final class RemoveCommand extends MultiSandboxCommand {
  @Option(
      names = {"-f", "--force"},
      description = "Do not spare unsaved work.")
  private boolean force;

  public RemoveCommand(CommandContext wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    return forEach(isola, console, "removed", sandbox -> sandbox.destroy(force));
  }
}
