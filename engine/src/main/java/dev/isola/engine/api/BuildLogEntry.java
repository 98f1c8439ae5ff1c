package dev.isola.engine.api;

import java.time.Instant;
import java.util.Optional;

/**
 * One line of the log of a build.
 *
 * @param step the number of the step that it belongs to, from 1 on
 */
public record BuildLogEntry(Instant at, Level level, Optional<Integer> step, String message) {

  /** How much a line matters. */
  public enum Level {
    INFO,
    WARN,
    ERROR
  }
}
