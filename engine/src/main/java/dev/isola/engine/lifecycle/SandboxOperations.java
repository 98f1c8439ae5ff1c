package dev.isola.engine.lifecycle;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;

/** Renews, pauses and resumes sandboxes for clients. */
public final class SandboxOperations {
  private final SandboxRecorder recorder;
  private final LiveSandboxes liveSandboxes;
  private final SnapshotSuspension snapshots;
  private final Suspender suspender;
  private final InstantSource clock;

  public SandboxOperations(
      SandboxRecorder recorder,
      LiveSandboxes liveSandboxes,
      SnapshotSuspension snapshots,
      Suspender suspender,
      InstantSource clock) {
    this.recorder = recorder;
    this.liveSandboxes = liveSandboxes;
    this.snapshots = snapshots;
    this.suspender = suspender;
    this.clock = clock;
  }

  /**
   * Sets the expiry of a sandbox to {@code fromNow} from the current time. The ledger is
   * authoritative; the provider is informed afterwards.
   */
  public SandboxEntry renew(SandboxId id, Duration fromNow) {
    SandboxEntry entry =
        recorder.modify(
            id,
            current -> {
              refuseUnlessAlive(current);
              return current.toBuilder()
                  .expiresAt(clock.instant().plus(fromNow))
                  .updatedAt(clock.instant())
                  .build();
            });
    Failpoint.RENEW_WRITTEN.reach();
    if (entry.state() == SandboxState.RUNNING) {
      Duration given =
          Deadlines.forProvider(SpecCodec.decode(entry.spec(), id).lifecycle(), fromNow);
      Deadlines.renew(liveSandboxes.get(entry), given);
    }
    Failpoint.RENEW_APPLIED.reach();
    return entry;
  }

  public SandboxEntry pause(SandboxId id, PauseKind kind) {
    SandboxState state = kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
    pausing(id).pause(kind);
    Failpoint.PAUSE_DONE.reach();
    SandboxEntry paused =
        recorder.modify(
            id,
            current ->
                current.state() == state ? current : recorder.withState(current, state, null));
    Failpoint.PAUSE_WRITTEN.reach();
    return paused;
  }

  /** Resumes a paused or suspended sandbox. */
  public SandboxEntry resume(SandboxId id) {
    SandboxEntry before = recorder.require(id);
    if (SuspensionState.isSuspended(before)
        && snapshots.resume(id).state() == SandboxState.RUNNING) {
      return recorder.require(id);
    }
    try (LiveSandboxes.Operation _ =
        liveSandboxes.begin(id, ExclusiveOperation.SUSPENSION, SnapshotSuspension.RESUME_WAIT)) {
      return resume(id, before);
    }
  }

  private SandboxEntry resume(SandboxId id, SandboxEntry before) {
    pausing(id).resume();
    if (before.state() == SandboxState.STOPPED) {
      liveSandboxes.markRebooted(id);
    }
    Failpoint.RESUME_DONE.reach();
    SandboxEntry resumed =
        recorder.modify(
            id,
            current ->
                current.state() == SandboxState.RUNNING ? current : suspender.resumed(current));
    Failpoint.RESUME_WRITTEN.reach();
    suspender.renewDeadline(before, resumed, liveSandboxes.get(resumed));
    liveSandboxes.connect(resumed, liveSandboxes.get(resumed));
    return resumed;
  }

  private Pausing pausing(SandboxId id) {
    SandboxEntry entry = recorder.require(id);
    if (entry.state() == SandboxState.CREATING) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + id + " is still being created",
              "wait until it is running")
          .sandbox(id)
          .exception();
    }
    return liveSandboxes
        .get(entry)
        .as(Pausing.class)
        .orElseThrow(() -> Capability.unsupported(entry.provider(), "pausing"));
  }

  private static void refuseUnlessAlive(SandboxEntry entry) {
    switch (entry.state()) {
      case RUNNING, PAUSED, STOPPED -> {}
      case CREATING, ERROR, TERMINATING, DESTROYED ->
          throw Fault.of(
                  ErrorCode.SANDBOX_DESTROYED,
                  "sandbox " + entry.id() + " is " + entry.state() + " and cannot be renewed",
                  "create a new sandbox")
              .sandbox(entry.id())
              .exception();
    }
  }
}
