package dev.isola.app;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code isola pause}. */
@Command(name = "pause", description = "Freeze sandboxes, with their processes in memory.")
final class PauseCommand extends EachSandbox {
  @Option(names = "--stop", description = "End their processes and keep their files only.")
  private boolean stop;

  PauseCommand(Wiring wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    return each(isola, console, "paused", stop ? Sandbox::stop : Sandbox::pause);
  }
}
