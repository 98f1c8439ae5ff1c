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
  private static final long SILENT_NANOS = Duration.ofSeconds(5).toNanos();

  private static final int KEYS = 4096;

  private final CliEnvironment host;
  private final String sandbox;
  private final Terminal terminal;
  private final DetachKeys keys = new DetachKeys();
  private volatile boolean detached;
  private long lostAt;
  private boolean lost;
  private boolean told;

  private RemoteTerminal(CliEnvironment host, String sandbox, Terminal terminal) {
    this.host = host;
    this.sandbox = sandbox;
    this.terminal = terminal;
  }

  /** Starts a command on a terminal of the same size as the user's. */
  static int start(CliEnvironment host, Sandbox sandbox, Command command) {
    need(host);
    String type = host.variables().getOrDefault("TERM", "");
    Command there =
        type.isEmpty() || command.env().containsKey("TERM")
            ? command
            : command.withEnv("TERM", type);
    try (RawTerminal here = RawTerminal.open()) {
      TerminalSize size = here.size();
      Terminal terminal = sandbox.terminal(there, size.rows(), size.columns());
      return new RemoteTerminal(host, sandbox.id(), terminal).run(here);
    }
  }

  /** Attaches to a command on a terminal and replays the retained output. */
  static int attach(CliEnvironment host, Sandbox sandbox, String execution) {
    need(host);
    ExecutionInfo info = sandbox.execution(execution, 0).info();
    if (!info.onTerminal()) {
      throw new UsageException(
          execution + " does not run on a terminal",
          "print its output with isola logs -f " + sandbox.id() + " " + execution);
    }
    try (RawTerminal here = RawTerminal.open()) {
      Terminal terminal = sandbox.attach(execution, info.firstOffset());
      terminal.resize(here.size().rows(), here.size().columns());
      return new RemoteTerminal(host, sandbox.id(), terminal).run(here);
    }
  }

  private static void need(CliEnvironment host) {
    CliEnvironment.TtyStatus interactive = host.tty();
    if (!interactive.in() || !interactive.out()) {
      throw new UsageException(
          "this command needs a terminal, and "
              + (interactive.in() ? "stdout" : "stdin")
              + " is not one",
          "run it in a terminal, or use isola exec without --tty");
    }
  }

  private int run(RawTerminal here) {
    Optional<Exit> exit;
    try (terminal) {
      terminal.onConnection(this::connection);
      here.onResize(
          () -> {
            TerminalSize size = here.size();
            Thread.ofVirtual().start(() -> terminal.resize(size.rows(), size.columns()));
          });
      here.enterRawMode();
      Thread.ofPlatform().daemon().name("isola-keys").start(this::pump);
      exit = show();
    } catch (ProviderUnavailable e) {
      here.close();
      throw RemoteFault.of(e, "the command is still running; " + reattachHint());
    } catch (IOException closed) {
      return ExitCodes.OUTPUT_CLOSED;
    }
    here.close(); // restore the terminal before printing
    if (exit.isEmpty()) {
      ErrorReport.writeLine(host, "detached; " + reattachHint());
      return ExitCodes.OK;
    }
    return RemoteOutput.reportExit(host, exit.get());
  }

  private String reattachHint() {
    return "reattach with isola shell " + sandbox + " --attach " + terminal.id();
  }

  /** Shows output until the command exits. Returns its exit, or empty after a detach. */
  private Optional<Exit> show() throws IOException {
    try {
      for (var next = terminal.read(); next.isPresent(); next = terminal.read()) {
        if (next.get() instanceof Output.Gap gap) {
          say(gap.lost() + " bytes of output were lost");
        } else {
          RemoteOutput.write(host, next.get());
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

  private void pump() {
    byte[] buffer = new byte[KEYS];
    try {
      OutputStream to = terminal.stdin();
      for (int count = host.in().read(buffer); count >= 0; count = host.in().read(buffer)) {
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

  private void connection(boolean there) {
    if (there) {
      if (told) {
        say("reconnected");
      }
      lost = false;
      told = false;
      return;
    }
    if (!lost) {
      lost = true;
      lostAt = System.nanoTime();
    } else if (!told && System.nanoTime() - lostAt > SILENT_NANOS) {
      told = true;
      say("connection lost; reconnecting (Enter ~. detaches)");
    }
  }

  /** In raw mode a line break needs an explicit carriage return. */
  private void say(String line) {
    try {
      host.err().write(("\r\nisola: " + line + "\r\n").getBytes(StandardCharsets.UTF_8));
      host.err().flush();
    } catch (IOException e) {
      // Standard error is closed.
    }
  }
}
