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
 * A program that was run to find something out, for a moment and with nothing to read.
 *
 * @param output the beginning of what it said, to either stream
 */
record ProgramProbe(boolean succeeded, String output) {
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** How long the last words of a program that has ended may be on their way. */
  private static final Duration GRACE = Duration.ofMillis(300);

  private static final int ENOUGH = 8192;

  /** Returns nothing when there is no such program. */
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
      // Not here: who holds the other end may be a child that the program left behind.
      Thread listener = Thread.startVirtualThread(() -> listen(process, said));
      boolean ended = process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      // Asked for what it said, not for whether all of it came.
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

  /** Stops when it has heard enough, and then the program has nobody to talk to. */
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
      // It has ended; what was heard is what there is.
    }
  }
}
