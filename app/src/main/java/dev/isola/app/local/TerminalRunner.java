package dev.isola.app.local;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.StdinPump;
import dev.isola.app.terminal.RawTerminal;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.provider.Provider;
import java.util.Optional;

/** Connects the user's terminal with one in the sandbox: input, output and window size. */
final class TerminalRunner implements CommandRunner {
  private final CliEnvironment environment;
  private final Provider provider;

  TerminalRunner(CliEnvironment environment, Provider provider) {
    this.environment = environment;
    this.provider = provider;
  }

  @Override
  public int run(Sandbox sandbox, Command command) {
    Terminals terminals =
        sandbox
            .as(Terminals.class)
            .orElseThrow(
                () ->
                    Capability.unsupported(
                        provider.info().name(), Capability.idOf(Terminals.class)));
    String type = environment.variables().getOrDefault("TERM", "");
    Command withTerm =
        type.isEmpty() || command.env().containsKey("TERM")
            ? command
            : command.withEnv("TERM", type);
    // The terminal is restored before this process writes to it.
    Optional<Exit> exit = connect(terminals, withTerm.withStdin());
    return exit.isPresent()
        ? StreamingRunner.reportExit(environment, exit.get())
        : ExitCodes.OUTPUT_CLOSED;
  }

  private Optional<Exit> connect(Terminals terminals, Command command) {
    try (RawTerminal local = RawTerminal.open();
        Terminal terminal = terminals.open(command, local.size())) {
      local.onResize(() -> terminal.resize(local.size()));
      local.enterRawMode();
      StdinPump.start(environment.in(), terminal);
      return StreamingRunner.copyOutput(environment, terminal)
          ? Optional.of(terminal.await())
          : Optional.empty();
    }
  }
}
