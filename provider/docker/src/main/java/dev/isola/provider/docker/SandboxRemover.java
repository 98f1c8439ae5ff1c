package dev.isola.provider.docker;

import dev.isola.link.local.SandboxLocks;
import dev.isola.provider.docker.http.Deadline;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Removes sandboxes: the container first, then what is known of it, its folder last.
 *
 * @param thaws whether a frozen one has to go on for a moment to be killed: a kernel of its own
 *     that is frozen does not see to that, and the engine gives up on it after ten seconds
 */
record SandboxRemover(
    EngineApi engine,
    SandboxResources ours,
    AgentLinks links,
    SandboxLocks turns,
    boolean unpausesFirst) {
  /** Cleaning up may take this long after whatever went wrong, which may have used up all time. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(20);

  private static final long LOOK_AGAIN = Duration.ofMillis(20).toNanos();

  /**
   * Removes a sandbox, in its turn, and returns when nothing is left.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded when the engine does not get it done
   */
  void remove(SandboxId id, Deadline deadline) {
    for (Optional<Container> left = ours.find(id); left.isPresent(); left = ours.find(id)) {
      if (!removed(left.get(), deadline)) {
        LockSupport.parkNanos(LOOK_AGAIN);
      }
      if (deadline.over() && ours.find(id).isPresent()) {
        throw Fault.of(
                ErrorCode.DEADLINE_EXCEEDED,
                "the engine has not removed sandbox " + id + " within " + deadline.whole(),
                "destroy it again")
            .sandbox(id)
            .exception();
      }
    }
    links.forget(id, "it was destroyed");
    removeFolder(id);
  }

  /** An engine that did not answer in time is asked what is left instead. */
  private boolean removed(Container container, Deadline deadline) {
    try {
      if (unpausesFirst && container.state() == SandboxState.PAUSED) {
        engine.unpauseIfPaused(container.id());
      }
      return engine.remove(container.id(), deadline);
    } catch (OutcomeUnknown e) {
      if (deadline.over()) {
        return false;
      }
      throw e;
    }
  }

  void removeFolder(SandboxId id) {
    ContainerSocketFolder folder = ours.folder(id);
    if (folder.exists()) {
      try {
        folder.remove();
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the folder of sandbox " + id + " cannot be removed: " + e.getMessage(),
                "remove what holds it and destroy again")
            .sandbox(id)
            .exception(e);
      }
    }
  }

  /**
   * Removes what was made of a sandbox whose making failed.
   *
   * @throws OutcomeUnknown when that fails, too
   */
  void cleanUp(SandboxId id, Exception because) {
    boolean interrupted = Thread.interrupted(); // what was begun is undone all the same
    try {
      remove(id, Deadline.in(CLEAN_UP));
    } catch (SandboxException e) {
      because.addSuppressed(e);
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "making sandbox "
                  + id
                  + " failed ("
                  + because.getMessage()
                  + "), and what is left could not be removed: "
                  + e.fault().problem(),
              "destroy it when the engine answers again")
          .sandbox(id)
          .exception(because);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** What an owner left behind that never comes back: it was killed before it could destroy it. */
  void removeOrphans() {
    for (SandboxId id : ours.orphaned()) {
      // One that is being destroyed this moment looks the same; it is left to who does it.
      turns.tryWithLock(id, () -> remove(id, Deadline.in(CLEAN_UP)));
    }
  }
}
