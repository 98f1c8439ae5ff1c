package dev.isola.engine.api.template;

import dev.isola.engine.api.BuildLogEntry.Level;
import java.util.Optional;

/** Receives the lines of a build log. */
interface BuildLogWriter {
  /**
   * Adds a line.
   *
   * @param step the number of the step that the line belongs to, starting at 1
   */
  void line(Level level, String message, Optional<Integer> step);

  default void info(String message, Optional<Integer> step) {
    line(Level.INFO, message, step);
  }
}
