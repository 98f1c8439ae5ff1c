package dev.isola.bench.command;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.CommandFactory;

/** Adds {@code isola bench} to the command line in a source checkout. */
public final class BenchCommandFactory implements CommandFactory {
  @Override
  public String name() {
    return "bench";
  }

  @Override
  public CliCommand create(CommandContext wiring) {
    return new BenchCommand(wiring);
  }
}
