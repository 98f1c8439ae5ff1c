package dev.isola.engine.reconcile;

import dev.isola.document.request.ExpiryAction;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.api.registry.ProviderWorkers;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Carries out the steps of reconciliations, several at a time for each provider. Every write is a
 * compare-and-set; a step that fails is planned again by the next run.
 */
public final class ReconcileStepExecutor implements AutoCloseable {
  private static final int PARALLELISM = 32;

  /** How long a reconciliation waits for its steps. Those of a provider that hangs continue. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final ProviderWorkers workers = new ProviderWorkers("isola-reconcile", PARALLELISM);
  private final ProviderRegistry registry;
  private final SandboxRecorder recorder;
  private final SandboxDestroyer destroyer;
  private final LiveSandboxes liveSandboxes;
  private final SnapshotSuspension snapshotSuspension;
  private final Log log;

  /** The unrecorded sandboxes that were reported; each is reported once. */
  private final Set<SandboxId> unrecorded = ConcurrentHashMap.newKeySet();

  public ReconcileStepExecutor(
      ProviderRegistry registry,
      SandboxRecorder recorder,
      SandboxDestroyer destroyer,
      LiveSandboxes liveSandboxes,
      SnapshotSuspension snapshotSuspension,
      Log log) {
    this.registry = registry;
    this.recorder = recorder;
    this.destroyer = destroyer;
    this.liveSandboxes = liveSandboxes;
    this.snapshotSuspension = snapshotSuspension;
    this.log = log;
  }

  /** Carries out steps, and returns when they are done or {@link #LIMIT} is over. */
  void execute(List<ReconcileStep> steps) {
    boolean _ =
        workers.run(
            steps.stream()
                .filter(step -> !isDone(step))
                .map(
                    step ->
                        new ProviderWorkers.Work(step.provider(), step.id(), () -> attempt(step)))
                .toList(),
            LIMIT);
  }

  /** Returns whether a step has nothing to do; so most steps need no thread. */
  private boolean isDone(ReconcileStep step) {
    return step instanceof ReconcileStep.Attach(SandboxEntry entry)
        && (entry.state() != SandboxState.RUNNING || liveSandboxes.contains(entry.id()));
  }

  @Override
  public void close() {
    workers.close();
  }

  private void attempt(ReconcileStep step) {
    try {
      execute(step);
    } catch (SandboxException e) {
      log.warning(
          "reconciliation step failed and will be retried: "
              + step.getClass().getSimpleName()
              + ": "
              + e.fault().problem());
    } catch (RuntimeException e) { // a failing step must not prevent the others
      log.warning(
          "reconciliation step failed and will be retried: "
              + step.getClass().getSimpleName()
              + ": "
              + e);
    }
  }

  private boolean isRecorded(String provider, SandboxId id) {
    return recorder
        .find(id)
        .filter(entry -> entry.state() != SandboxState.DESTROYED)
        .filter(entry -> entry.provider().equals(provider))
        .isPresent();
  }

  private static boolean isExpired(SandboxEntry entry, Instant now) {
    return entry.expiresAt().filter(end -> !end.isAfter(now)).isPresent()
        && entry.whenExpired() == ExpiryAction.DESTROY;
  }

  private void execute(ReconcileStep step) {
    switch (step) {
      case ReconcileStep.Attach(SandboxEntry entry) -> attach(entry);
      case ReconcileStep.CorrectState(SandboxEntry entry, SandboxState state) -> {
        SandboxEntry corrected = recorder.withState(entry, state, null);
        recorder.update(
            entry,
            state == SandboxState.RUNNING
                ? SuspensionState.resumed(corrected, corrected.updatedAt())
                : corrected);
        Failpoint.RECONCILE_CORRECTED.reach();
      }
      case ReconcileStep.MarkLost(SandboxEntry entry, String why) -> markLost(entry, why);
      case ReconcileStep.VerifyLost(SandboxEntry entry, String why) -> {
        if (exists(entry)) {
          log.warning(
              "another server has not found sandbox "
                  + entry.id()
                  + " at "
                  + entry.provider()
                  + ", but this server has; check that all servers have the same settings of "
                  + entry.provider());
        } else {
          markLost(entry, why);
        }
      }
      case ReconcileStep.FinishDestroy(SandboxEntry entry) -> {
        Failpoint.RECONCILE_FINISHING.reach();
        destroyer.destroy(
            entry.id(),
            DestroyOptions.FORCE,
            entry.cause().orElse("its destruction was interrupted"));
      }
      case ReconcileStep.DiscardSuspended(SandboxEntry entry) -> {
        Failpoint.RECONCILE_REMOVING.reach();
        snapshotSuspension.discard(entry.id());
        Failpoint.RECONCILE_REMOVED.reach();
      }
      case ReconcileStep.LeaveUnrecorded(String provider, SandboxId id) -> {
        if (unrecorded.add(id)) {
          log.warning(
              "sandbox "
                  + id
                  + " of "
                  + provider
                  + " is not recorded in the ledger, because it was created after the backup that"
                  + " the ledger was restored from; it is left running until its expiry. To destroy"
                  + " all such sandboxes, stop the server and run isola restore --destroy-unrecorded");
        }
      }
      case ReconcileStep.RemoveUnknown(String provider, SandboxId id) -> {
        if (liveSandboxes.isInTransition(id) || isRecorded(provider, id)) {
          return; // it was created after the inventory was taken
        }
        log.warning(
            "sandbox " + id + " of " + provider + " is not recorded in the ledger; removing it");
        Failpoint.RECONCILE_REMOVING.reach();
        registry.get(provider).destroy(id, DestroyOptions.FORCE);
        Failpoint.RECONCILE_REMOVED.reach();
      }
    }
  }

  /** Attaches to a sandbox, unless its record has changed while the step was waiting. */
  private void attach(SandboxEntry entry) {
    Optional<SandboxEntry> current =
        recorder.find(entry.id()).filter(one -> one.state() == SandboxState.RUNNING);
    if (current.isPresent() && !liveSandboxes.contains(entry.id())) {
      var _ = liveSandboxes.get(current.get());
    }
  }

  private void markLost(SandboxEntry entry, String why) {
    SandboxEntry lost = recorder.withState(entry, SandboxState.ERROR, why);
    if (entry.state() != SandboxState.CREATING && isExpired(entry, lost.updatedAt())) {
      return; // it reached its deadline; expiry handles it
    }
    if (recorder.update(entry, lost).isPresent()) {
      Failpoint.RECONCILE_LOST.reach();
      log.warning("sandbox " + entry.id() + ": " + why);
      destroyer.destroy(entry.id(), DestroyOptions.FORCE, why);
    }
  }

  /**
   * Returns whether a sandbox of this server can be used.
   *
   * @throws SandboxException if the provider does not answer
   */
  private boolean exists(SandboxEntry entry) {
    try {
      return registry
          .get(entry.provider())
          .attach(entry.id())
          .filter(one -> isUsable(one.state()))
          .isPresent();
    } catch (Gone | NotFound e) {
      return false;
    }
  }

  private static boolean isUsable(SandboxState state) {
    return switch (state) {
      case CREATING, RUNNING, PAUSED, STOPPED -> true;
      case ERROR, TERMINATING, DESTROYED -> false;
    };
  }
}
