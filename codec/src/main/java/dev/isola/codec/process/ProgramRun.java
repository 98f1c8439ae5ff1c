package dev.isola.codec.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.time.Deadline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs a program of the host to its end, with a timeout, and collects the beginning of its output.
 * Output beyond the limit is read and dropped, so that the program does not block. The program gets
 * no input unless some is given, and is killed with its descendants when the run ends early.
 */
public final class ProgramRun {
  private static final int DEFAULT_MAX_OUTPUT = 64 << 10;

  private final ProcessBuilder builder;
  private byte[] input = {};
  private int maxOutput = DEFAULT_MAX_OUTPUT;

  private ProgramRun(List<String> words) {
    builder = new ProcessBuilder(words).redirectErrorStream(true);
  }

  /** Prepares a run; standard error is part of the output. */
  public static ProgramRun of(List<String> words) {
    return new ProgramRun(words);
  }

  /** Collects standard error apart from the output. */
  public ProgramRun separateErrors() {
    builder.redirectErrorStream(false);
    return this;
  }

  public ProgramRun environment(Consumer<Map<String, String>> change) {
    change.accept(builder.environment());
    return this;
  }

  public ProgramRun folder(Path folder) {
    builder.directory(folder.toFile());
    return this;
  }

  /**
   * Sets the standard input. It is written with one call: if it fits a pipe, the program receives
   * all or nothing of it, even if this process is killed.
   */
  public ProgramRun input(String text) {
    input = text.getBytes(UTF_8);
    return this;
  }

  /** Limits how many bytes of the output, and of standard error, are kept. */
  public ProgramRun maxOutput(int bytes) {
    maxOutput = bytes;
    return this;
  }

  /** The result of a run. */
  public static final class Result {
    private final int code;
    private final byte[] output;
    private final byte[] errors;
    private final boolean complete;

    private Result(int code, byte[] output, byte[] errors, boolean complete) {
      this.code = code;
      this.output = output;
      this.errors = errors;
      this.complete = complete;
    }

    /** Returns the exit code, 128 plus the signal if one ended the program. */
    public int code() {
      return code;
    }

    public boolean succeeded() {
      return code == 0;
    }

    /** Returns the beginning of the output. */
    public String output() {
      return new String(output, UTF_8);
    }

    /** Returns the beginning of the output. */
    public byte[] outputBytes() {
      return output.clone();
    }

    /** Returns the beginning of standard error if it is separate. */
    public String errors() {
      return new String(errors, UTF_8);
    }

    /**
     * Returns whether the output ended in time; a process that the program left behind can keep it
     * open.
     */
    public boolean complete() {
      return complete;
    }
  }

  /**
   * Runs the program.
   *
   * @throws ProgramTimeoutException if it did not end in time
   * @throws InterruptedIOException if this thread is interrupted; its interrupted status is set
   * @throws IOException if the program cannot be started
   */
  public Result run(Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    String program = builder.command().getFirst();
    Process process = builder.start();
    try {
      Collector output = new Collector(process.getInputStream());
      Collector errors = new Collector(process.getErrorStream());
      Thread.startVirtualThread(() -> write(process.getOutputStream()));
      if (!process.waitFor(deadline.left())) {
        throw new ProgramTimeoutException(
            program + " did not end within " + timeout.toSeconds() + " s",
            new String(output.bytes(), UTF_8));
      }
      boolean outputEnded = output.await(deadline);
      boolean errorsEnded = errors.await(deadline);
      return new Result(
          process.exitValue(), output.bytes(), errors.bytes(), outputEnded && errorsEnded);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(program + " was interrupted");
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private void write(OutputStream to) {
    try (to) {
      to.write(input);
    } catch (IOException e) {
      // The program ended without reading; its output tells why.
    }
  }

  /** Reads a stream to its end on a thread of its own. */
  private final class Collector {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private final Thread thread;

    Collector(InputStream from) {
      thread = Thread.startVirtualThread(() -> read(from));
    }

    private void read(InputStream from) {
      byte[] buffer = new byte[8192];
      try (from) {
        for (int n = from.read(buffer); n >= 0; n = from.read(buffer)) {
          kept.write(buffer, 0, Math.min(n, maxOutput - kept.size()));
        }
      } catch (IOException e) {
        // The program was killed.
      }
    }

    boolean await(Deadline deadline) throws InterruptedException {
      return thread.join(deadline.left());
    }

    byte[] bytes() {
      return kept.toByteArray();
    }
  }
}
