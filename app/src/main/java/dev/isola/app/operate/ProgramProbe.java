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
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** Time for remaining output to arrive after the program has exited. */
  private static final Duration GRACE = Duration.ofMillis(300);

  private static final int ENOUGH = 8192;

  /** Runs a program. Returns empty if it does not exist. */
  static Optional<ProgramProbe> run(String... words) {
    Process process;
    try {
      process = new ProcessBuilder(words).redirectErrorStream(true).start();
    } catch (IOException e) {
      return Optional.empty();
    }
    try {
      process.getOutputStream().close();
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      // Read on another thread: a child that the program left behind may keep the pipe open.
      Thread listener = Thread.startVirtualThread(() -> listen(process, said));
      boolean ended = process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      // Incomplete output is acceptable.
      boolean _ = listener.join(GRACE);
      return Optional.of(
          new ProgramProbe(
              ended && process.exitValue() == 0, said.toString(StandardCharsets.UTF_8)));
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
  private static void listen(Process process, ByteArrayOutputStream said) {
    byte[] buffer = new byte[ENOUGH];
    try (InputStream in = process.getInputStream()) {
      while (said.size() < ENOUGH) {
        int count = in.read(buffer);
        if (count < 0) {
          return;
        }
        said.write(buffer, 0, count);
      }
    } catch (IOException e) {
      // The program has exited; use what was read so far.
    }
  }
}
