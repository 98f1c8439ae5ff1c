package dev.isola.engine.api;

import java.time.Instant;
import java.util.Optional;

/**
 * One line of a build log.
 *
 * @param step the number of the step that the line belongs to, starting at 1
 */
public record BuildLogEntry(Instant at, Level level, Optional<Integer> step, String message) {

  /** The severity of a line. */
  public enum Level {
    INFO,
    WARN,
    ERROR
  }
}
