package dev.isola.integrations.springai.sandbox;

import dev.isola.client.Command;
import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.client.error.IsolaException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springaicommunity.sandbox.ExecResult;
import org.springaicommunity.sandbox.ExecSpec;
import org.springaicommunity.sandbox.Sandbox;
import org.springaicommunity.sandbox.SandboxException;
import org.springaicommunity.sandbox.SandboxFiles;
import org.springaicommunity.sandbox.TimeoutException;

/**
 * Backend of the Spring AI community's {@link Sandbox}: commands run in a sandbox of an Isola
 * server.
 *
 * <pre>{@code
 * try (Sandbox sandbox = IsolaSandbox.create(isola, SandboxSpec.DEFAULT)) {
 *   sandbox.files().create("main.py", "print(6 * 7)");
 *   System.out.print(sandbox.exec(ExecSpec.of("python3", "main.py")).stdout());
 * }
 * }</pre>
 */
public final class IsolaSandbox implements Sandbox {
  /** First argument of a command that {@code ExecSpec.Builder.shellCommand} has made. */
  private static final String SHELL_COMMAND = "__SHELL_COMMAND__";

  /** The interface promises bash; an image may have no other shell than sh. */
  private static final String BASH_OR_SH =
      "if command -v bash >/dev/null; then exec bash -c \"$1\"; else exec sh -c \"$1\"; fi";

  private final dev.isola.client.Sandbox sandbox;
  private final boolean destroysOnClose;
  private final Path workDir;
  private volatile boolean closed;

  private IsolaSandbox(dev.isola.client.Sandbox sandbox, boolean destroysOnClose) {
    this.sandbox = sandbox;
    this.destroysOnClose = destroysOnClose;
    this.workDir = Path.of(translate(() -> sandbox.exec("pwd")).stdout().strip());
  }

  /** Creates a sandbox, which closing destroys. */
  public static IsolaSandbox create(Isola isola, SandboxSpec spec) {
    dev.isola.client.Sandbox sandbox = translate(() -> isola.create(spec));
    try {
      return new IsolaSandbox(sandbox, true);
    } catch (SandboxException e) {
      try {
        sandbox.close();
      } catch (IsolaException left) {
        e.addSuppressed(left);
      }
      throw e;
    }
  }

  /** Returns a view of a sandbox, which closing leaves running. */
  public static IsolaSandbox of(dev.isola.client.Sandbox sandbox) {
    return new IsolaSandbox(sandbox, false);
  }

  /** Calls the SDK; its exceptions become those of the interface. */
  static <T> T translate(Supplier<T> call) {
    try {
      return call.get();
    } catch (IsolaException e) {
      throw new SandboxException(message(e), e);
    }
  }

  /** Returns the message; of two errors it has the words that the interface's tests look for. */
  private static String message(IsolaException e) {
    return switch (e.code()) {
      case "FILE_NOT_FOUND" -> "FILE_NOT_FOUND: the path does not exist; " + e.getMessage();
      case "NOT_A_FOLDER" -> "NOT_A_FOLDER: the path is not a directory; " + e.getMessage();
      default -> e.code() + ": " + e.getMessage();
    };
  }

  /**
   * {@inheritDoc}
   *
   * <p>The server keeps the beginning and the end of output that exceeds its limit, 1 MiB unless
   * the operator changed it; a last line of the standard error says so then. The duration is that
   * of the call, as with other backends.
   */
  @Override
  public ExecResult exec(ExecSpec spec) {
    long start = System.nanoTime();
    dev.isola.client.ExecResult result = translate(() -> open().exec(command(spec)));
    Duration duration = Duration.ofNanos(System.nanoTime() - start);
    Duration timeout = spec.timeout();
    if (result.timedOut()) {
      throw new SandboxException(
          "the command timed out",
          new TimeoutException("the command timed out after " + timeout, timeout));
    }
    return new ExecResult(
        result.exitCode(), result.stdout(), result.stderr() + note(result), duration);
  }

  private static String note(dev.isola.client.ExecResult result) {
    return result.truncated()
        ? "\n[the middle of the output is left out: the command wrote "
            + result.stdoutBytes()
            + " bytes to its standard output and "
            + result.stderrBytes()
            + " to its standard error]\n"
        : "";
  }

  private static Command command(ExecSpec spec) {
    List<String> argv = spec.command();
    Command command =
        (argv.size() == 2 && argv.getFirst().equals(SHELL_COMMAND)
                ? Command.argv("/bin/sh", "-c", BASH_OR_SH, "sh", argv.get(1))
                : Command.argv(argv))
            .withEnv(spec.env());
    @Nullable Duration timeout = spec.timeout();
    return timeout == null ? command : command.withTimeout(timeout);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The process has no pid on this machine. Like that of a local process, its output must be
   * read, or it blocks.
   */
  @Override
  public Process startInteractive(ExecSpec spec) {
    return new SandboxProcess(translate(() -> open().start(command(spec), true)));
  }

  /** Returns the SDK's handle, unless this sandbox is closed. */
  dev.isola.client.Sandbox open() {
    if (closed) {
      throw new IllegalStateException("the sandbox is closed");
    }
    return sandbox;
  }

  @Override
  public Path workDir() {
    return workDir;
  }

  @Override
  public SandboxFiles files() {
    return new IsolaSandboxFiles(this);
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public boolean shouldCleanupOnClose() {
    return destroysOnClose;
  }

  @Override
  public void close() {
    closed = true;
    if (destroysOnClose) {
      translate(
          () -> {
            sandbox.close();
            return true;
          });
    }
  }

  @Override
  public String toString() {
    return "IsolaSandbox[" + sandbox.id() + "]";
  }
}
