package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A running process of the controller. What it writes is untrusted: of its standard error only the
 * end is kept, and its standard output is read by the caller within limits.
 */
final class ControllerProcess implements AutoCloseable {
  private static final int MAX_ERROR = 16 * 1024;
  private static final Duration DRAIN = Duration.ofSeconds(2);

  private final Process process;
  private final Thread errorReader;
  private final StringBuilder error = new StringBuilder();

  private ControllerProcess(Process process) {
    this.process = process;
    this.errorReader = Thread.ofVirtual().name("microvmctl-stderr").start(this::readError);
  }

  /**
   * Starts a verb.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the program cannot be started
   */
  static ControllerProcess start(ControllerCommand command, List<String> verb) {
    try {
      return new ControllerProcess(new ProcessBuilder(command.line(verb)).start());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the program " + command.program() + " cannot be started: " + e.getMessage(),
              "install it, or set providers." + MicrovmctlDescription.NAME + ".cli")
          .exception(e);
    }
  }

  InputStream out() {
    return process.getInputStream();
  }

  OutputStream in() {
    return process.getOutputStream();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  int exitCode() {
    return process.exitValue();
  }

  /** Closes the standard input of the controller: it has all of it. */
  void closeInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process has ended; its exit code tells more.
    }
  }

  /**
   * Waits for the end of the process.
   *
   * @return whether it has ended within the timeout
   * @throws SandboxException with {@code CANCELLED} if the thread is interrupted
   */
  boolean await(Duration timeout) {
    try {
      return process.waitFor(Math.max(1, timeout.toNanos()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cancelled(e);
    }
  }

  static SandboxException cancelled(InterruptedException e) {
    return Fault.of(ErrorCode.CANCELLED, "the call was interrupted", "repeat it").exception(e);
  }

  private void readError() {
    byte[] buffer = new byte[4096];
    try (InputStream in = process.getErrorStream()) {
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        synchronized (error) {
          error.append(new String(buffer, 0, count, UTF_8));
          error.delete(0, Math.max(0, error.length() - MAX_ERROR));
        }
      }
    } catch (IOException e) {
      // The process was killed.
    }
  }

  /** Returns the end of what the process wrote to standard error. */
  String error() {
    try {
      errorReader.join(process.isAlive() ? Duration.ofMillis(1) : DRAIN);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    synchronized (error) {
      return error.toString();
    }
  }

  /** Kills the process with its descendants, such as those of a wrapper in a shell. */
  @Override
  public void close() {
    if (process.isAlive()) {
      List<ProcessHandle> tree = process.descendants().toList();
      process.destroyForcibly();
      tree.forEach(ProcessHandle::destroyForcibly);
    }
    closeInput();
    try {
      process.getInputStream().close();
    } catch (IOException e) {
      // Nothing more is read from it.
    }
  }
}
