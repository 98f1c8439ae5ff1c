package dev.isola.store;

import java.time.Instant;
import java.util.Optional;

/**
 * A build of a template as the ledger has it.
 *
 * @param image that it makes, or made; empty text once that is removed
 * @param reason why it failed; empty text unless it did
 * @param failedStep the number of the step that failed, from 1 on
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

  /** How far a build is. */
  public enum State {
    /** It is written down and waits for its turn. */
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
