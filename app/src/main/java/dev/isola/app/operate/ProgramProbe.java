package dev.isola.app.operate;

import dev.isola.app.cli.IoErrors;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Result of running a program briefly, without input.
 *
 * @param output the beginning of its output, stdout and stderr combined
 */
record ProgramProbe(boolean succeeded, String output) {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** Time for remaining output to arrive after the program has exited. */
  private static final Duration OUTPUT_GRACE = Duration.ofMillis(300);

  private static final int OUTPUT_LIMIT = 8192;

  /** Runs a program. Returns empty if it does not exist. */
  static Optional<ProgramProbe> run(String... command) {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      return Optional.empty();
    }
    try {
      process.getOutputStream().close();
      ByteArrayOutputStream captured = new ByteArrayOutputStream();
      // Read on another thread: a child that the program left behind may keep the pipe open.
      Thread reader = Thread.startVirtualThread(() -> capture(process, captured));
      boolean ended = process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      // Incomplete output is acceptable.
      boolean _ = reader.join(OUTPUT_GRACE);
      return Optional.of(
          new ProgramProbe(
              ended && process.exitValue() == 0, captured.toString(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      return Optional.of(new ProgramProbe(false, IoErrors.describe(e)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(new ProgramProbe(false, "interrupted"));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** Reads up to the limit and then closes the pipe. */
  private static void capture(Process process, ByteArrayOutputStream captured) {
    byte[] buffer = new byte[OUTPUT_LIMIT];
    try (InputStream in = process.getInputStream()) {
      while (captured.size() < OUTPUT_LIMIT) {
        int count = in.read(buffer);
        if (count < 0) {
          return;
        }
        captured.write(buffer, 0, count);
      }
    } catch (IOException e) {
      // The program has exited; use what was read so far.
    }
  }
}
