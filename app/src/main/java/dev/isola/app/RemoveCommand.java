package dev.isola.app;

import dev.isola.client.Isola;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code isola rm}. */
@Command(name = "rm", description = "Destroy sandboxes; nothing of them is left.")
final class RemoveCommand extends EachSandbox {
  @Option(
      names = {"-f", "--force"},
      description = "Do not spare unsaved work.")
  private boolean force;

  RemoveCommand(Wiring wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    return each(isola, console, "removed", sandbox -> sandbox.destroy(force));
  }
}
