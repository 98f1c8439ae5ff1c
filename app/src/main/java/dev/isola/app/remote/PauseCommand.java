package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola pause}. */
@Command(name = "pause", description = "Pause sandboxes; their processes stay in memory.")
public final class PauseCommand extends MultiSandboxCommand {
  @Option(
      names = "--stop",
      description = "Stop instead: end the processes and keep only the files.")
  private boolean stop;

  public PauseCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    return forEach(isola, console, "paused", stop ? Sandbox::stop : Sandbox::pause);
  }
}
