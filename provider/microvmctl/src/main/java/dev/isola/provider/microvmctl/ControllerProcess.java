package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A running process of the controller. What it writes is untrusted: of its standard error only the
 * end is kept, and its standard output is read by the caller within limits.
 */
final class ControllerProcess implements AutoCloseable {
  /** Key in the context of an error: the verb had no effect, because no process was started. */
  static final String NOT_STARTED = "notStarted";

  private static final Duration DRAIN = Duration.ofSeconds(2);

  /** The variable by which the processes of a call are found. */
  private static final String MARK = "ISOLA_MICROVMCTL_CALL";

  private final Process process;
  private final String mark;
  private final ErrorTail error = new ErrorTail();
  private @Nullable Thread errorReader;

  private ControllerProcess(Process process, String mark) {
    this.process = process;
    this.mark = mark;
  }

  /**
   * Starts a verb, and keeps the end of its standard error.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the program cannot be started
   */
  static ControllerProcess start(ControllerCommand command, List<String> verb) {
    ControllerProcess process = startStreaming(command, verb);
    process.errorReader = Thread.ofVirtual().name("microvmctl-stderr").start(process::readError);
    return process;
  }

  /** Starts a verb whose standard error the caller reads. */
  static ControllerProcess startStreaming(ControllerCommand command, List<String> verb) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command.line(verb));
      String mark = MARK + "=" + UUID.randomUUID();
      builder.environment().put(MARK, mark.substring(MARK.length() + 1));
      return new ControllerProcess(builder.start(), mark);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the program " + command.program() + " cannot be started: " + e.getMessage(),
              "install it, or set providers." + MicrovmctlDescription.NAME + ".cli")
          .with(NOT_STARTED, "true")
          .exception(e);
    }
  }

  InputStream out() {
    return process.getInputStream();
  }

  InputStream err() {
    return process.getErrorStream();
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
        error.add(Arrays.copyOf(buffer, count));
      }
    } catch (IOException e) {
      // The process was killed.
    }
  }

  private boolean isMarked(ProcessHandle one) {
    try {
      return new String(Files.readAllBytes(Path.of("/proc/" + one.pid() + "/environ")), ISO_8859_1)
          .contains(mark);
    } catch (IOException e) {
      return false; // it has ended, belongs to another user, or this is not Linux
    }
  }

  /** Returns the end of what the process wrote to standard error. */
  String error() {
    Thread reader = errorReader;
    try {
      if (reader != null && !process.isAlive()) {
        var _ = reader.join(DRAIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return error.text();
  }

  /**
   * Kills the process with its descendants, such as those of a wrapper in a shell. A descendant
   * that was forked meanwhile is found by its environment.
   */
  @Override
  public void close() {
    if (process.isAlive()) {
      List<ProcessHandle> tree = process.descendants().toList();
      process.destroyForcibly();
      tree.forEach(ProcessHandle::destroyForcibly);
      ProcessHandle.allProcesses().filter(this::isMarked).forEach(ProcessHandle::destroyForcibly);
    }
    closeInput();
    try {
      process.getInputStream().close();
    } catch (IOException e) {
      // Nothing more is read from it.
    }
  }
}
