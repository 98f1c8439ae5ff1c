package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;

/** Removes pods, and returns when their node has confirmed that nothing of them runs. */
record PodRemover(
    SandboxPods pods,
    PodWatch watch,
    PodLinks links,
    SandboxLocks locks,
    Optional<WorkspaceClaims> claims) {
  /** The deadline of a cleanup after a failure that may have used up the caller's deadline. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(30);

  /** How often to ask for the pod while waiting, in case its event is late. */
  private static final Duration POLL = Duration.ofSeconds(1);

  /**
   * Removes a sandbox under its lock.
   *
   * @param force whether to remove the object if its node does not confirm in time, as when it is
   *     lost
   */
  void remove(SandboxId id, boolean force, Deadline deadline) {
    Optional<PodSnapshot> found = pods.find(id);
    links.destroyed(id);
    if (found.isPresent() && pods.resources().isPresent()) {
      removeResource(id, pods.resources().get(), force, deadline);
    } else {
      found.ifPresent(pod -> removePod(id, pod, force, deadline));
    }
    claims.ifPresent(all -> all.remove(id, force, deadline));
  }

  private void removeResource(
      SandboxId id, SandboxResources resources, boolean force, Deadline deadline) {
    watch.start();
    resources.delete(id); // first, so that no other pod is made
    Optional<PodSnapshot> pod = pods.pod(id);
    while (pod.isPresent()) {
      removePod(id, pod.get(), force, deadline);
      pod = deadline.over() ? Optional.empty() : pods.pod(id); // one that was being made
    }
    resources.awaitRemoval(id, deadline);
  }

  /** Removes the pod of a sandbox, and keeps its claim. */
  void removePod(SandboxId id, PodSnapshot pod, boolean force, Deadline deadline) {
    watch.start();
    request(pod, PodPlan.DESTROY_GRACE_SECONDS);
    while (pods.pod(id).filter(now -> now.uid().equals(pod.uid())).isPresent()) {
      if (deadline.over()) {
        if (!force) {
          throw late(id, pod, deadline);
        }
        request(pod, 0);
        return;
      }
      await(id, pod, deadline.within(POLL));
    }
  }

  private void request(PodSnapshot pod, int grace) {
    try {
      pods.cluster().deletePod(pod, grace, Cluster.soon());
    } catch (Conflict anotherPod) {
      // A pod of the same name has replaced it, so it is gone.
    } catch (OutcomeUnknown e) {
      // Whether the pod is there is asked next.
    }
  }

  private void await(SandboxId id, PodSnapshot pod, Deadline deadline) {
    try {
      watch.awaitRemoval(id, pod.uid(), deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "the removal of sandbox " + id + " was cancelled",
              "destroy the sandbox again")
          .sandbox(id)
          .exception(e);
    }
  }

  private static SandboxException late(SandboxId id, PodSnapshot pod, Deadline deadline) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "node "
                + pod.node()
                + " did not end sandbox "
                + id
                + " within "
                + deadline.whole().toMillis()
                + " ms",
            "destroy the sandbox again when the node responds; with force if it never will")
        .sandbox(id)
        .exception();
  }

  /**
   * Removes the remains of a failed creation.
   *
   * @throws OutcomeUnknown if the removal fails too
   */
  void cleanUp(SandboxId id, Exception because) {
    boolean interrupted = Thread.interrupted(); // Undone even if interrupted.
    try {
      remove(id, false, Deadline.in(CLEAN_UP));
    } catch (SandboxException e) {
      because.addSuppressed(e);
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "creating sandbox "
                  + id
                  + " failed ("
                  + because.getMessage()
                  + "), and its pod could not be removed: "
                  + e.fault().problem(),
              "destroy it when the cluster responds again")
          .sandbox(id)
          .exception(because);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Removes the sandboxes of processes that were killed before they could destroy them. */
  void removeOrphans(Deadline deadline) {
    for (PodSnapshot pod : watch.known(deadline)) {
      if (pod.shortLived() && pod.state() == SandboxState.ERROR) {
        // A sandbox that is being destroyed at this moment looks the same; it is skipped.
        pod.sandbox()
            .ifPresent(id -> locks.tryWithLock(id, () -> remove(id, false, Deadline.in(CLEAN_UP))));
      }
    }
  }
}
