package dev.isola.app.operate;

import dev.isola.codec.process.ProgramRun;
import dev.isola.codec.process.ProgramTimeoutException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Result of running a program briefly, without input.
 *
 * @param output the beginning of its output, stdout and stderr combined
 */
record ProgramProbe(boolean succeeded, String output) {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final int OUTPUT_LIMIT = 8192;

  /** Runs a program. Returns empty if it does not exist. */
  static Optional<ProgramProbe> run(String... command) {
    try {
      ProgramRun.Result result =
          ProgramRun.of(List.of(command)).maxOutput(OUTPUT_LIMIT).run(TIMEOUT);
      return Optional.of(new ProgramProbe(result.succeeded(), result.output()));
    } catch (ProgramTimeoutException e) {
      return Optional.of(new ProgramProbe(false, e.output()));
    } catch (InterruptedIOException e) {
      return Optional.of(new ProgramProbe(false, String.valueOf(e.getMessage())));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
