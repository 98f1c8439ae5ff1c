package dev.isola.engine.api;

import java.time.Instant;
import java.util.Optional;

/**
 * The state of one build of a template.
 *
 * @param reason why the build failed; empty otherwise
 * @param failedStep the number of the step that failed, starting at 1
 */
public record BuildView(
    String id,
    String template,
    State state,
    String reason,
    Optional<Integer> failedStep,
    Instant createdAt,
    Instant updatedAt) {

  /** The progress of a build. */
  public enum State {
    WAITING,
    RUNNING,
    READY,
    FAILED;

    /** Returns whether the build has ended. */
    public boolean isOver() {
      return this == READY || this == FAILED;
    }
  }
}
