package dev.isola.store;

import java.time.Instant;
import java.util.Optional;

/**
 * A build of a template, as recorded in the ledger.
 *
 * @param image the image that the build produces; empty once the image is removed
 * @param reason why the build failed; empty unless it failed
 * @param failedStep the number of the step that failed, counted from 1
 */
public record BuildEntry(
    String id,
    String template,
    State state,
    String image,
    String reason,
    Optional<Long> failedStep,
    Instant createdAt,
    Instant updatedAt) {

  /** The state of a build. */
  public enum State {
    /** Recorded, and queued. */
    WAITING,
    RUNNING,
    READY,
    FAILED;

    public boolean isOver() {
      return this == READY || this == FAILED;
    }
  }

  public BuildEntry withState(State next, Instant now) {
    return new BuildEntry(id, template, next, image, reason, failedStep, createdAt, now);
  }

  public BuildEntry failed(String why, Optional<Long> step, Instant now) {
    return new BuildEntry(id, template, State.FAILED, image, why, step, createdAt, now);
  }

  public BuildEntry withoutImage(Instant now) {
    return new BuildEntry(id, template, state, "", reason, failedStep, createdAt, now);
  }
}
