package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.DestroyOptions;
import dev.isola.client.Isola;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola rm}. */
@Command(name = "rm", description = "Destroy sandboxes and their files.")
public final class RemoveCommand extends MultiSandboxCommand {
  @Option(
      names = {"-f", "--force"},
      description = "Destroy a sandbox even if it contains unsaved work.")
  private boolean force;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description =
          "The longest time to wait for each sandbox: 30s, 5m. The server then continues to destroy"
              + " it.")
  private @Nullable String timeout;

  public RemoveCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    DestroyOptions how = force ? DestroyOptions.DEFAULT.forced() : DestroyOptions.DEFAULT;
    DestroyOptions options =
        timeout == null ? how : how.withTimeout(Arguments.duration("--timeout", timeout));
    return forEach(isola, console, "removed", sandbox -> sandbox.destroy(options));
  }
}
