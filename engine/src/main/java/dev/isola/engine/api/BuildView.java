package dev.isola.engine.api;

import java.time.Instant;
import java.util.Optional;

/**
 * What the engine tells of one build of a template.
 *
 * @param reason why it failed; empty text unless it did
 * @param failedStep the number of the step that failed, from 1 on
 */
public record BuildView(
    String id,
    String template,
    State state,
    String reason,
    Optional<Integer> failedStep,
    Instant createdAt,
    Instant updatedAt) {

  /** How far a build is. */
  public enum State {
    WAITING,
    RUNNING,
    READY,
    FAILED;

    /** Returns whether it has ended. */
    public boolean isOver() {
      return this == READY || this == FAILED;
    }
  }
}
