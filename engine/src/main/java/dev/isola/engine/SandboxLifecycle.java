package dev.isola.engine;

import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.ExpirySweeper;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.Retention;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.Suspender;
import dev.isola.engine.reconcile.ReconcileStepExecutor;
import dev.isola.engine.reconcile.Reconciler;
import dev.isola.engine.reconcile.SharedReconciler;
import java.time.Duration;

/**
 * What changes the state of sandboxes that exist: clients, expiry, idleness, and reconciliation.
 */
final class SandboxLifecycle implements AutoCloseable {
  private static final Duration HOUR = Duration.ofHours(1);

  private final EngineContext context;
  final SandboxDestroyer destroyer;
  final SnapshotSuspension suspension;
  final Suspender suspender;
  final ExpirySweeper expiry;
  final Reconciler reconciler;
  private final ReconcileStepExecutor steps;
  private final SharedReconciler sharedReconciler;
  private final Retention retention;

  SandboxLifecycle(
      EngineContext context,
      SandboxRecords records,
      EngineSecrets secrets,
      Admission admission,
      LiveSandboxes liveSandboxes,
      EngineSnapshots snapshots,
      Telemetry telemetry) {
    this.context = context;
    destroyer =
        new SandboxDestroyer(
            records.recorder,
            context.registry(),
            liveSandboxes,
            snapshots.suspensions,
            secrets.env,
            context.log());
    suspension =
        new SnapshotSuspension(
            records.recorder,
            liveSandboxes,
            context.registry(),
            admission.control,
            snapshots.suspensions,
            context.clock(),
            context.log());
    suspender =
        new Suspender(records.recorder, liveSandboxes, suspension, context.clock(), context.log());
    expiry =
        new ExpirySweeper(
            context.ledger(),
            records.recorder,
            destroyer,
            suspender,
            telemetry.activity,
            records.quarantine,
            context.ownership(),
            context.clock(),
            context.log());
    steps =
        new ReconcileStepExecutor(
            context.registry(),
            records.recorder,
            destroyer,
            liveSandboxes,
            suspension,
            context.log());
    SandboxLeases leases = new SandboxLeases(context.config().get(ConfigKeys.DATA));
    sharedReconciler =
        new SharedReconciler(
            context.ledger(),
            context.registry(),
            liveSandboxes,
            leases,
            context.ownership(),
            steps,
            context.config().get(ConfigKeys.RECONCILE_INTERVAL),
            context.log());
    reconciler =
        new Reconciler(
            context.ledger(),
            context.registry(),
            liveSandboxes,
            leases,
            records.quarantine,
            context.ownership(),
            sharedReconciler,
            steps,
            context.log());
    retention =
        new Retention(
            context.ledger(),
            secrets.env,
            context.config().get(ConfigKeys.RETENTION),
            context.clock());
  }

  void start(TaskScheduler schedule) {
    Duration expiryInterval = context.config().get(ConfigKeys.EXPIRY_INTERVAL);
    Duration reconcileInterval = context.config().get(ConfigKeys.RECONCILE_INTERVAL);
    schedule.every(expiryInterval, "expiry", expiry::sweep);
    schedule.every(expiryInterval, "lost", reconciler::reconcileIfAnyEnded);
    schedule.every(reconcileInterval, "reconcile", reconciler::reconcile);
    if (context.ownership().server().isPresent()) {
      schedule.once("shared inventories", sharedReconciler::compare);
      schedule.every(reconcileInterval, "shared inventories", sharedReconciler::compare);
    }
    Duration purgeInterval = retentionInterval(context.config().get(ConfigKeys.RETENTION));
    Runnable purge = context.onOneServer("retention", purgeInterval, retention::purge);
    schedule.once("retention", purge);
    schedule.every(purgeInterval, "retention", purge);
  }

  /** Returns how often what has been kept for {@code period} is removed. */
  static Duration retentionInterval(Duration period) {
    return period.compareTo(HOUR) < 0 ? period : HOUR;
  }

  @Override
  public void close() {
    expiry.close();
    steps.close();
  }
}
