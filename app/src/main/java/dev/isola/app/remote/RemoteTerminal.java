package dev.isola.app.remote;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.terminal.RawTerminal;
import dev.isola.client.Command;
import dev.isola.client.ExecutionInfo;
import dev.isola.client.Exit;
import dev.isola.client.Output;
import dev.isola.client.Sandbox;
import dev.isola.client.Terminal;
import dev.isola.client.error.DeadlineExceeded;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/** Connects the user's terminal with one on a server: input, output, window size and detaching. */
final class RemoteTerminal {
  /** A restarting server is usually back sooner; no message is printed until then. */
  private static final long QUIET_NANOS = Duration.ofSeconds(5).toNanos();

  private static final int BUFFER_SIZE = 4096;

  private final CliEnvironment environment;
  private final String sandbox;
  private final Terminal terminal;
  private final DetachKeys keys = new DetachKeys();
  private volatile boolean detached;
  private long lostAt;
  private boolean lost;
  private boolean reported;

  private RemoteTerminal(CliEnvironment environment, String sandbox, Terminal terminal) {
    this.environment = environment;
    this.sandbox = sandbox;
    this.terminal = terminal;
  }

  /** Starts a command on a terminal of the same size as the user's. */
  static int start(CliEnvironment environment, Sandbox sandbox, Command command) {
    requireTerminal(environment);
    String type = environment.variables().getOrDefault("TERM", "");
    Command withTerm =
        type.isEmpty() || command.env().containsKey("TERM")
            ? command
            : command.withEnv("TERM", type);
    try (RawTerminal local = RawTerminal.open()) {
      TerminalSize size = local.size();
      Terminal terminal = sandbox.terminal(withTerm, size.rows(), size.columns());
      return new RemoteTerminal(environment, sandbox.id(), terminal).run(local);
    }
  }

  /** Attaches to a command on a terminal and replays the retained output. */
  static int attach(CliEnvironment environment, Sandbox sandbox, String execution) {
    requireTerminal(environment);
    ExecutionInfo info = sandbox.execution(execution, 0).info();
    if (!info.onTerminal()) {
      throw new UsageException(
          execution + " does not run on a terminal",
          "print its output with isola logs -f " + sandbox.id() + " " + execution);
    }
    try (RawTerminal local = RawTerminal.open()) {
      Terminal terminal = sandbox.attach(execution, info.firstOffset());
      terminal.resize(local.size().rows(), local.size().columns());
      return new RemoteTerminal(environment, sandbox.id(), terminal).run(local);
    }
  }

  private static void requireTerminal(CliEnvironment environment) {
    CliEnvironment.TtyStatus tty = environment.tty();
    if (!tty.in() || !tty.out()) {
      throw new UsageException(
          "this command needs a terminal, and " + (tty.in() ? "stdout" : "stdin") + " is not one",
          "run it in a terminal, or use isola exec without --tty");
    }
  }

  private int run(RawTerminal local) {
    Optional<Exit> exit;
    try (terminal) {
      terminal.onConnection(this::connectionChanged);
      local.onResize(
          () -> {
            TerminalSize size = local.size();
            Thread.ofVirtual().start(() -> terminal.resize(size.rows(), size.columns()));
          });
      local.enterRawMode();
      Thread.ofPlatform().daemon().name("isola-keys").start(this::forwardInput);
      exit = show();
    } catch (ProviderUnavailable e) {
      local.close();
      throw RemoteFault.of(e, "the command is still running; " + reattachHint());
    } catch (IOException closed) {
      return ExitCodes.OUTPUT_CLOSED;
    }
    local.close(); // restore the terminal before printing
    if (exit.isEmpty()) {
      ErrorReport.writeLine(environment, "detached; " + reattachHint());
      return ExitCodes.OK;
    }
    return RemoteOutput.reportExit(environment, exit.get());
  }

  private String reattachHint() {
    return "reattach with isola shell " + sandbox + " --attach " + terminal.id();
  }

  /** Shows output until the command exits. Returns its exit, or empty after a detach. */
  private Optional<Exit> show() throws IOException {
    try {
      for (var next = terminal.read(); next.isPresent(); next = terminal.read()) {
        if (next.get() instanceof Output.Gap gap) {
          printLine(gap.lost() + " bytes of output were lost");
        } else {
          RemoteOutput.write(environment, next.get());
        }
      }
      return Optional.of(terminal.await());
    } catch (DeadlineExceeded e) {
      if (detached) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private void forwardInput() {
    byte[] buffer = new byte[BUFFER_SIZE];
    try {
      OutputStream to = terminal.stdin();
      for (int count = environment.in().read(buffer);
          count >= 0;
          count = environment.in().read(buffer)) {
        byte[] typed = keys.filter(Arrays.copyOf(buffer, count), count);
        if (keys.detached()) {
          detached = true;
          terminal.close();
          return;
        }
        if (typed.length > 0) {
          to.write(typed);
        }
      }
    } catch (IOException | RuntimeException e) {
      // The command has exited or the connection is lost; the output thread reports it.
    }
  }

  private void connectionChanged(boolean connected) {
    if (connected) {
      if (reported) {
        printLine("reconnected");
      }
      lost = false;
      reported = false;
      return;
    }
    if (!lost) {
      lost = true;
      lostAt = System.nanoTime();
    } else if (!reported && System.nanoTime() - lostAt > QUIET_NANOS) {
      reported = true;
      printLine("connection lost; reconnecting (Enter ~. detaches)");
    }
  }

  /** In raw mode a line break needs an explicit carriage return. */
  private void printLine(String line) {
    try {
      environment.err().write(("\r\nisola: " + line + "\r\n").getBytes(StandardCharsets.UTF_8));
      environment.err().flush();
    } catch (IOException e) {
      // Standard error is closed.
    }
  }
}
