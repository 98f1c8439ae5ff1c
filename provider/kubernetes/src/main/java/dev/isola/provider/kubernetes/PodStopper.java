package dev.isola.provider.kubernetes;

import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentSandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.StateTransition;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.Optional;

/**
 * Stops and resumes sandboxes whose workspace is on a claim, under their lock. A sandbox is stopped
 * once its files are on the claim and the mark exists, and runs again once its pod has all files
 * and the mark is gone; what a process that dies in between leaves behind is one of both.
 */
record PodStopper(
    KubernetesSettings settings,
    SandboxPods pods,
    NamespaceObjects objects,
    WorkspaceClaims claims,
    PodWatch watch,
    PodLinks links,
    PodRemover remover) {
  private static final Duration REMOVAL = Duration.ofSeconds(60);
  private static final Duration SHUTDOWN = Duration.ofSeconds(5);
  private static final int KILLS = 2;

  /** Ends the processes, saves the files that are not on the claim, and removes the pod. */
  void stop(SandboxId id) {
    AgentSandbox sandbox = links.require(id);
    if (sandbox.state() == SandboxState.STOPPED) {
      return;
    }
    StateTransition.check(sandbox.state(), SandboxState.STOPPED, id);
    PodSnapshot pod = pods.find(id).orElseThrow(() -> PodLinks.gone(id));
    if (claims.stoppedPod(id).isEmpty()) {
      save(sandbox);
      claims.markStopped(id, pod.uid());
    }
    links.stopped(id, SHUTDOWN);
    remover.removePod(id, pod, false, Deadline.in(REMOVAL));
  }

  private static void save(AgentSandbox sandbox) {
    try {
      killAll(sandbox);
      new SavedFiles(sandbox).save();
    } catch (SandboxException e) {
      throw Fault.of(
              e.code(),
              "sandbox "
                  + sandbox.id()
                  + " cannot be stopped, and continues without its commands: "
                  + e.fault().problem(),
              e.fault().remedy())
          .sandbox(sandbox.id())
          .exception(e);
    }
  }

  /**
   * Ends all processes. The relay of the connection is one of them, so the reply may be lost. The
   * agent serves another connection only when no process is left.
   */
  private static void killAll(AgentSandbox sandbox) {
    for (int attempt = 1; attempt <= KILLS; attempt++) {
      try {
        sandbox.killAll();
        return;
      } catch (OutcomeUnknown lost) {
        // Sent again, in case the connection was lost before the agent had the request.
      }
    }
    Duration roundTrip = sandbox.ping();
    assert !roundTrip.isNegative();
  }

  /** Starts the sandbox again, unless it runs. */
  void resume(SandboxId id, PodIsolation isolation) {
    AgentSandbox sandbox = links.require(id);
    Optional<String> stopped = claims.stoppedPod(id);
    Optional<PodSnapshot> pod = pods.find(id);
    if (stopped.isEmpty()) { // Another process resumed it, or it was never stopped.
      links.resumed(
          id,
          pod.filter(found -> found.state() == SandboxState.RUNNING)
              .orElseThrow(() -> PodLinks.gone(id)));
      return;
    }
    StoredPod stored = claims.find(id).orElseThrow(() -> PodLinks.gone(id));
    links.stopped(id);
    try {
      pod.ifPresent(old -> remover.removePod(id, old, false, Deadline.in(REMOVAL)));
      start(id, stored, isolation);
      claims.unmark(id);
    } catch (SandboxException e) {
      undo(id, e);
      throw failed(sandbox.id(), e);
    }
  }

  private void start(SandboxId id, StoredPod stored, PodIsolation isolation) {
    Deadline deadline = Deadline.in(SandboxSpec.DEFAULT_STARTUP_TIMEOUT);
    PodSnapshot created =
        PodSnapshot.of(pods.cluster().createPod(stored.bodyWith(objects.ensure()), deadline));
    PodBoot boot = new PodBoot(pods.cluster(), pods.instance());
    PodStart.Started started =
        new PodStart(pods.cluster(), watch, boot)
            .start(id, created, stored.record().toArray(), deadline);
    AgentSandbox sandbox = links.resumed(id, started);
    isolation.verify(pods.cluster(), settings, started.pod(), sandbox);
    new SavedFiles(sandbox).restore();
  }

  /** Leaves the sandbox stopped: its claim has everything, and the pod nothing that it lacks. */
  private void undo(SandboxId id, SandboxException because) {
    objects.forget();
    links.stopped(id);
    boolean interrupted = Thread.interrupted(); // Undone even if interrupted.
    try {
      pods.find(id).ifPresent(pod -> remover.removePod(id, pod, false, Deadline.in(REMOVAL)));
    } catch (SandboxException e) {
      because.addSuppressed(e); // The next resume removes it.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static SandboxException failed(SandboxId id, SandboxException e) {
    return Fault.of(
            e.code() == ErrorCode.CONFLICT ? ErrorCode.PROVIDER_UNAVAILABLE : e.code(),
            "sandbox " + id + " cannot be resumed, and stays stopped: " + e.fault().problem(),
            e.fault().remedy())
        .sandbox(id)
        .exception(e);
  }
}
