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
  private final CliEnvironment host;
  private final Provider provider;

  TerminalRunner(CliEnvironment host, Provider provider) {
    this.host = host;
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
    String type = host.variables().getOrDefault("TERM", "");
    Command there =
        type.isEmpty() || command.env().containsKey("TERM")
            ? command
            : command.withEnv("TERM", type);
    // The terminal is restored before this process writes to it.
    Optional<Exit> exit = join(terminals, there.withStdin());
    return exit.isPresent()
        ? StreamingRunner.reportExit(host, exit.get())
        : ExitCodes.OUTPUT_CLOSED;
  }

  private Optional<Exit> join(Terminals terminals, Command command) {
    try (RawTerminal here = RawTerminal.open();
        Terminal terminal = terminals.open(command, here.size())) {
      here.onResize(() -> terminal.resize(here.size()));
      here.enterRawMode();
      StdinPump.start(host.in(), terminal);
      return StreamingRunner.copyOutput(host, terminal)
          ? Optional.of(terminal.await())
          : Optional.empty();
    }
  }
}
