package dev.isola.bench.command;

import dev.isola.app.cli.Action;
import dev.isola.app.cli.CommandFactory;
import dev.isola.app.cli.Wiring;

/** Adds {@code isola bench} to the command line of a clone. */
public final class BenchCommandFactory implements CommandFactory {
  @Override
  public String name() {
    return "bench";
  }

  @Override
  public Action create(Wiring wiring) {
    return new BenchCommand(wiring);
  }
}
