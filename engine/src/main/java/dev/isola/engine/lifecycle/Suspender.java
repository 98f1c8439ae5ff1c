package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.Log;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.Gone;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension.Reason;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;

/** Suspends due sandboxes whose entry specifies suspension instead of destruction. */
public final class Suspender {
  private final SandboxRecorder recorder;
  private final LiveSandboxes liveSandboxes;
  private final SnapshotSuspension snapshots;
  private final InstantSource clock;
  private final Log log;

  public Suspender(
      SandboxRecorder recorder,
      LiveSandboxes liveSandboxes,
      SnapshotSuspension snapshots,
      InstantSource clock,
      Log log) {
    this.recorder = recorder;
    this.liveSandboxes = liveSandboxes;
    this.snapshots = snapshots;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Suspends a sandbox. If it does not respond, it keeps running and is suspended later.
   *
   * @return false if it is gone or cannot be suspended, and must be destroyed
   */
  boolean suspend(ExpiryStep.Suspend step) {
    try {
      Sandbox sandbox = liveSandboxes.get(step.entry());
      Optional<Pausing> pausing = sandbox.as(Pausing.class);
      Optional<SuspensionMethod> method =
          SuspensionMethod.of(
              step.action(),
              sandbox.as(Snapshotting.class).isPresent(),
              pausing.map(Pausing::kinds).orElse(Set.of()));
      method.ifPresent(
          chosen -> {
            switch (chosen) {
              case SNAPSHOT -> snapshots.suspend(step);
              case PAUSE_MEMORY -> pause(step, chosen, sandbox, PauseKind.MEMORY);
              case PAUSE_FILESYSTEM -> pause(step, chosen, sandbox, PauseKind.FILESYSTEM);
            }
          });
      return method.isPresent();
    } catch (Gone e) {
      log.warning(
          "sandbox " + step.id() + " cannot be suspended and will be destroyed: " + e.getMessage());
      return false;
    } catch (RuntimeException e) {
      recorder.update(
          step.entry(),
          SuspensionState.failed(
              SuspensionState.suspended(step.entry(), step.reason()),
              clock.instant(),
              SnapshotSuspension.RETRY));
      log.warning(
          "sandbox " + step.id() + " could not be suspended and keeps running: " + e.getMessage());
      return true;
    }
  }

  /**
   * Records the pause before pausing, because resuming a sandbox that is not paused is harmless. A
   * request in between reads the record and waits until the sandbox can be resumed.
   */
  private void pause(
      ExpiryStep.Suspend step, SuspensionMethod method, Sandbox sandbox, PauseKind kind) {
    SandboxEntry paused = recorder.withState(step.entry(), method.state(), step.cause());
    try (LiveSandboxes.Operation _ =
        liveSandboxes.begin(
            step.id(), ExclusiveOperation.SUSPENSION, SnapshotSuspension.SUSPEND_WAIT)) {
      recorder
          .update(step.entry(), SuspensionState.suspended(paused, step.reason()))
          .ifPresent(
              suspended -> {
                liveSandboxes.invalidate(step.id());
                pause(suspended, step.reason(), sandbox, kind);
              });
    }
  }

  private void pause(SandboxEntry suspended, Reason reason, Sandbox sandbox, PauseKind kind) {
    try {
      if (reason == Reason.EXPIRED) { // otherwise a frozen sandbox would end when it is resumed
        Deadlines.renew(sandbox, Deadlines.WHILE_SUSPENDED);
      }
      sandbox.as(Pausing.class).orElseThrow().pause(kind);
    } catch (RuntimeException e) {
      snapshots.keepRunning(suspended);
      log.warning(
          "sandbox "
              + suspended.id()
              + " could not be paused and keeps running: "
              + e.getMessage());
    }
  }

  /** Returns the entry of a resumed sandbox. */
  public SandboxEntry resumed(SandboxEntry entry) {
    return SuspensionState.resumed(
        recorder.withState(entry, SandboxState.RUNNING, null), clock.instant());
  }

  /** Renews the deadline of a resumed sandbox at its provider. */
  public void renewDeadline(SandboxEntry before, SandboxEntry resumed, Sandbox sandbox) {
    Lifecycle lifecycle = SpecCodec.decode(resumed.spec(), resumed.id()).lifecycle();
    if (SuspensionState.isSuspended(before)
        && lifecycle.ttl().isPresent()
        && resumed.whenExpired() != ExpiryAction.DESTROY) {
      Deadlines.renew(sandbox, Deadlines.forProvider(lifecycle, lifecycle.ttl().get()));
    }
  }
}
