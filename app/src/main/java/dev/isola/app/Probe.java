package dev.isola.app;

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
record Probe(boolean succeeded, String output) {
  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final int ENOUGH = 8192;

  /** Returns nothing when there is no such program. */
  static Optional<Probe> run(String... words) {
    Process process;
    try {
      process = new ProcessBuilder(words).redirectErrorStream(true).start();
    } catch (IOException e) {
      return Optional.empty();
    }
    // Whoever goes on talking, or says nothing at all, is ended in time.
    Thread guard =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                      process.destroyForcibly();
                    }
                  } catch (InterruptedException e) {
                    process.destroyForcibly();
                  }
                });
    try {
      process.getOutputStream().close();
      InputStream said = process.getInputStream();
      String output = new String(said.readNBytes(ENOUGH), StandardCharsets.UTF_8);
      said.close();
      boolean succeeded =
          process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS) && process.exitValue() == 0;
      return Optional.of(new Probe(succeeded, output));
    } catch (IOException e) {
      return Optional.of(new Probe(false, Reason.of(e)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(new Probe(false, "interrupted"));
    } finally {
      process.destroyForcibly();
      guard.interrupt();
    }
  }
}
