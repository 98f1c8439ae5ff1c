package dev.isola.provider.docker;

import dev.isola.codec.time.Deadline;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Removes sandboxes: the container first, then the connection, the folder last.
 *
 * @param unpausesFirst whether a paused container must run for a moment to be killed: a paused
 *     guest kernel does not handle the signal, and the engine gives up after ten seconds
 */
record SandboxRemover(
    EngineApi engine,
    SandboxResources sandboxResources,
    AgentLinks links,
    SandboxLocks turns,
    boolean unpausesFirst) {
  /** The deadline of a cleanup after a failure that may have used up the caller's deadline. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(20);

  private static final Duration RETRY_PAUSE = Duration.ofMillis(20);

  /**
   * Removes a sandbox under its lock and returns when nothing remains.
   *
   * @throws dev.isola.spi.error.DeadlineExceeded if the engine does not finish in time
   */
  void remove(SandboxId id, Deadline deadline) {
    if (!deadline.awaitUninterruptibly(RETRY_PAUSE, () -> nothingIsLeft(id, deadline))) {
      throw Fault.of(
              ErrorCode.DEADLINE_EXCEEDED,
              "the engine did not remove sandbox " + id + " within " + deadline.whole(),
              "destroy the sandbox again")
          .sandbox(id)
          .exception();
    }
    links.forget(id, "it was destroyed");
    removeFolder(id);
  }

  /** Removes containers of a sandbox until there is none, or one cannot be removed yet. */
  private boolean nothingIsLeft(SandboxId id, Deadline deadline) {
    Optional<Container> left = sandboxResources.find(id);
    boolean continues = true;
    while (left.isPresent() && continues) {
      continues = removed(left.get(), deadline) && !deadline.over();
      left = sandboxResources.find(id);
    }
    return left.isEmpty();
  }

  /** Asks the engine what remains if it did not respond in time. */
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
    ContainerSocketFolder folder = sandboxResources.folder(id);
    if (folder.exists()) {
      try {
        folder.remove();
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the folder of sandbox " + id + " cannot be removed: " + e.getMessage(),
                "remove the cause and destroy the sandbox again")
            .sandbox(id)
            .exception(e);
      }
    }
  }

  /**
   * Removes the remains of a failed creation.
   *
   * @throws OutcomeUnknown if the removal fails too
   */
  void cleanUp(SandboxId id, Exception because) {
    boolean interrupted = Thread.interrupted(); // Undone even if interrupted.
    try {
      remove(id, Deadline.in(CLEAN_UP));
    } catch (SandboxException e) {
      because.addSuppressed(e);
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "creating sandbox "
                  + id
                  + " failed ("
                  + because.getMessage()
                  + "), and its remaining resources could not be removed: "
                  + e.fault().problem(),
              "destroy it when the engine responds again")
          .sandbox(id)
          .exception(because);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Removes the sandboxes of processes that were killed before they could destroy them. */
  void removeOrphans() {
    for (SandboxId id : sandboxResources.orphaned()) {
      // A sandbox that is being destroyed at this moment looks the same; it is skipped.
      turns.tryWithLock(id, () -> remove(id, Deadline.in(CLEAN_UP)));
    }
  }
}
