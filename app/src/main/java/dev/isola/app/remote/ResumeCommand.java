package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import picocli.CommandLine.Command;

/** Implements {@code isola resume}. */
@Command(name = "resume", description = "Resume paused or stopped sandboxes.")
public final class ResumeCommand extends MultiSandboxCommand {
  public ResumeCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    return forEach(isola, console, "resumed", Sandbox::resume);
  }
}
