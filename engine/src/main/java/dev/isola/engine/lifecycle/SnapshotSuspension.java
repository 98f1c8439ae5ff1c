package dev.isola.engine.lifecycle;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/**
 * Suspends sandboxes by snapshot, without leaving anything at their provider. The order is: record
 * the suspension, so that requests wait; save the sandbox; record the snapshot; destroy the
 * sandbox. Resuming reverses it. After a crash in between, the sandbox either still runs or is in
 * the snapshot.
 */
public final class SnapshotSuspension {
  /** How long a request waits for a snapshot that is still being taken, or a restore. */
  public static final Duration RESUME_WAIT = Duration.ofMinutes(5);

  /** Longer than a restore may take. */
  static final Duration SUSPEND_WAIT = Duration.ofHours(1);

  /** How long after a failed suspension an expired sandbox is suspended again. */
  static final Duration RETRY = Duration.ofMinutes(1);

  private final SandboxRecorder recorder;
  private final LiveSandboxes liveSandboxes;
  private final ProviderRegistry registry;
  private final AdmissionControl admission;
  private final SuspensionStorage storage;
  private final InstantSource clock;
  private final Log log;

  public SnapshotSuspension(
      SandboxRecorder recorder,
      LiveSandboxes liveSandboxes,
      ProviderRegistry registry,
      AdmissionControl admission,
      SuspensionStorage storage,
      InstantSource clock,
      Log log) {
    this.recorder = recorder;
    this.liveSandboxes = liveSandboxes;
    this.registry = registry;
    this.admission = admission;
    this.storage = storage;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Suspends a sandbox unless its entry has changed. Returns once the suspension is recorded; a
   * background thread takes the snapshot.
   */
  void suspend(ExpiryStep.Suspend step) {
    SandboxId id = step.id();
    liveSandboxes.beginTransition(id); // reconciliation ignores it until the snapshot is complete
    Optional<SandboxEntry> suspended =
        recorder.update(
            step.entry(),
            SuspensionState.suspended(
                recorder.withState(step.entry(), SandboxState.STOPPED, step.cause()),
                step.reason()));
    if (suspended.isEmpty()) {
      liveSandboxes.endTransition(id);
      return;
    }
    liveSandboxes.invalidate(id);
    Thread.ofVirtual()
        .name("isola-suspend-" + id)
        .start(
            () -> {
              try (LiveSandboxes.Operation _ =
                  liveSandboxes.begin(id, ExclusiveOperation.SUSPENSION, SUSPEND_WAIT)) {
                try {
                  save(suspended.get());
                } finally {
                  liveSandboxes.endTransition(id);
                }
              } catch (SandboxException notTaken) {
                keepRunning(suspended.get());
                liveSandboxes.endTransition(id);
                log.warning(
                    "sandbox " + id + " could not be suspended: " + notTaken.fault().problem());
              }
            });
  }

  private void save(SandboxEntry suspended) {
    SandboxId id = suspended.id();
    try {
      String snapshot = storage.save(suspended);
      recorder.modify(
          id,
          current ->
              SuspensionState.isSuspended(current)
                  ? SuspensionState.withSnapshot(current, snapshot)
                  : current);
      registry.get(suspended.provider()).destroy(id, DestroyOptions.FORCE);
      liveSandboxes.remove(id);
    } catch (RuntimeException e) {
      keepRunning(suspended);
      log.warning("sandbox " + id + " could not be suspended and keeps running: " + e.getMessage());
    }
  }

  /** Records a sandbox whose suspension failed as running. */
  void keepRunning(SandboxEntry suspended) {
    try {
      recorder.modify(
          suspended.id(),
          current ->
              SuspensionState.isSuspended(current) && SuspensionState.snapshot(current).isEmpty()
                  ? SuspensionState.failed(
                      recorder.withState(current, SandboxState.RUNNING, null),
                      clock.instant(),
                      RETRY)
                  : current);
    } catch (SandboxException gone) {
      log.warning(
          "the state of sandbox "
              + suspended.id()
              + " after its failed suspension could not be recorded");
    }
  }

  /**
   * Restores a sandbox that is suspended by snapshot; waits if the snapshot is still being taken.
   *
   * @return the entry of a sandbox that is running, or paused or stopped at its provider
   * @throws dev.isola.spi.error.ProviderUnavailable if the snapshot takes too long
   */
  public SandboxEntry resume(SandboxId id) {
    try (LiveSandboxes.Operation _ =
        liveSandboxes.begin(id, ExclusiveOperation.SUSPENSION, RESUME_WAIT)) {
      SandboxEntry entry = recorder.require(id);
      Optional<String> snapshot = SuspensionState.snapshot(entry);
      return entry.state() == SandboxState.STOPPED && snapshot.isPresent()
          ? restore(entry, snapshot.get())
          : entry;
    }
  }

  /**
   * Destroys what a provider still holds of a sandbox that is suspended by snapshot. Does nothing
   * while a request resumes the sandbox, because the provider then holds the restored one.
   */
  public void discard(SandboxId id) {
    Optional<LiveSandboxes.Operation> operation =
        liveSandboxes.tryBegin(id, ExclusiveOperation.SUSPENSION);
    if (operation.isEmpty()) {
      return; // the next reconciliation retries
    }
    try (LiveSandboxes.Operation _ = operation.get()) {
      SandboxEntry entry = recorder.require(id);
      if (entry.state() == SandboxState.STOPPED && SuspensionState.snapshot(entry).isPresent()) {
        registry.get(entry.provider()).destroy(id, DestroyOptions.FORCE);
      }
    }
  }

  private SandboxEntry restore(SandboxEntry entry, String snapshot) {
    SandboxId id = entry.id();
    Reservation reservation =
        admission.admit(
            List.of(entry.provider()),
            Resources.of(SpecCodec.decode(entry.spec(), id).spec().limits()));
    boolean made = false;
    liveSandboxes.beginTransition(id);
    try {
      // Removes what a crash may have left.
      registry.get(entry.provider()).destroy(id, DestroyOptions.FORCE);
      SuspensionStorage.RestoredSandbox restored = storage.restore(entry, snapshot);
      SandboxEntry running =
          SuspensionState.resumed(
              recorder.withState(entry, SandboxState.RUNNING, null), clock.instant());
      Optional<SandboxEntry> stored = recorder.update(entry, running);
      if (stored.isEmpty()) {
        registry.get(entry.provider()).destroy(id, DestroyOptions.FORCE);
        throw Fault.of(
                ErrorCode.CONFLICT,
                "sandbox " + id + " changed while it was being resumed",
                "check its state and retry")
            .sandbox(id)
            .exception();
      }
      liveSandboxes.connect(stored.get(), restored.sandbox());
      liveSandboxes.add(restored.sandbox(), reservation);
      if (!restored.continued()) {
        liveSandboxes.markRebooted(id);
      }
      made = true;
      storage.delete(snapshot);
      return stored.get();
    } finally {
      liveSandboxes.endTransition(id);
      if (!made) {
        reservation.close();
      }
    }
  }
}
