package dev.isola.engine.reconcile;

import dev.isola.document.request.ExpiryAction;
import dev.isola.engine.api.Log;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SnapshotSuspension;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.registry.ProviderRegistry;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.store.EntryFilter;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Compares the ledger with the inventories of the providers and corrects the differences, for the
 * sandboxes of this server and for those that no server has recorded. Every write is a
 * compare-and-set; a failed step is retried by the next run.
 */
public final class Reconciler {
  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final SandboxRecorder recorder;
  private final SandboxDestroyer destroyer;
  private final LiveSandboxes liveSandboxes;
  private final SnapshotSuspension snapshotSuspension;
  private final SandboxLeases leases;
  private final Quarantine quarantine;
  private final Ownership ownership;
  private final Log log;

  /** The unrecorded sandboxes that were reported; each is reported once. */
  private final Set<SandboxId> unrecorded = ConcurrentHashMap.newKeySet();

  public Reconciler(
      Ledger ledger,
      ProviderRegistry registry,
      SandboxRecorder recorder,
      SandboxDestroyer destroyer,
      LiveSandboxes liveSandboxes,
      SnapshotSuspension snapshotSuspension,
      SandboxLeases leases,
      Quarantine quarantine,
      Ownership ownership,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.recorder = recorder;
    this.destroyer = destroyer;
    this.liveSandboxes = liveSandboxes;
    this.snapshotSuspension = snapshotSuspension;
    this.leases = leases;
    this.quarantine = quarantine;
    this.ownership = ownership;
    this.log = log;
  }

  /** Reconciles once and returns the steps. */
  public List<ReconcileStep> reconcile() {
    List<SandboxEntry> open = open();
    quarantine.retain(open.stream().map(SandboxEntry::id).toList());
    List<SandboxEntry> before = readable(open);
    Failpoint.RECONCILE_READ.reach();
    Map<String, List<InventoryItem>> inventories = inventories(before);
    Failpoint.RECONCILE_SEEN.reach();
    Map<SandboxId, String> after = ledger.sandboxes().findOpen(ids(inventories));
    List<ReconcileStep> steps =
        ReconcilePlanner.plan(
            new ReconcileInput(
                before,
                inventories,
                after,
                inTransition(before, inventories),
                leased(inventories, after),
                RestoreGaps.read(ledger)));
    Failpoint.RECONCILE_PLANNED.reach();
    steps.forEach(this::attempt);
    recoverLeases(inventories);
    return steps;
  }

  private static Set<SandboxId> ids(Map<String, List<InventoryItem>> inventories) {
    Set<SandboxId> ids = new HashSet<>();
    inventories.values().forEach(list -> list.forEach(item -> ids.add(item.id())));
    return ids;
  }

  /**
   * Returns the leased sandboxes. A process acquires the lease before it creates the sandbox, so
   * every sandbox in an inventory has its lease by now.
   */
  private Set<SandboxId> leased(
      Map<String, List<InventoryItem>> inventories, Map<SandboxId, String> recorded) {
    Set<SandboxId> leased = ids(inventories);
    leased.removeAll(recorded.keySet());
    leased.removeIf(id -> !leases.held(id));
    return leased;
  }

  private void recoverLeases(Map<String, List<InventoryItem>> inventories) {
    try {
      leases.recover(lease -> isGone(lease, inventories));
    } catch (SandboxException e) {
      log.warning("lapsed leases could not be removed: " + e.fault().problem());
    }
  }

  /**
   * Returns whether the sandbox is gone. If it is in an inventory, a step of this run removes it,
   * and the next run deletes the lease.
   */
  private static boolean isGone(
      SandboxLeases.LapsedLease lease, Map<String, List<InventoryItem>> inventories) {
    List<InventoryItem> there = inventories.get(lease.provider());
    return there != null && there.stream().noneMatch(one -> one.id().equals(lease.id()));
  }

  /**
   * Reconciles if a sandbox ended without the engine destroying it. A provider that receives events
   * of its backend knows this long before the next periodic run. Costs nothing otherwise.
   */
  public void reconcileIfAnyEnded() {
    if (liveSandboxes.all().stream().anyMatch(one -> one.state() == SandboxState.DESTROYED)) {
      reconcile();
    }
  }

  /** Returns the sandboxes of this server. */
  private List<SandboxEntry> open() {
    EntryFilter filter = EntryFilter.ALL.notDestroyed();
    return ledger.sandboxes().listAll(ownership.server().map(filter::owner).orElse(filter));
  }

  /** Returns the readable entries. Sandboxes with unreadable records are left alone. */
  private List<SandboxEntry> readable(List<SandboxEntry> entries) {
    return entries.stream().filter(entry -> !quarantine.holds(entry)).toList();
  }

  /**
   * Queries all providers in parallel, so that hanging ones cost one timeout in total. A failure is
   * logged only if the ledger has sandboxes of that provider.
   */
  private Map<String, List<InventoryItem>> inventories(List<SandboxEntry> entries) {
    Set<String> used = new HashSet<>();
    entries.forEach(entry -> used.add(entry.provider()));
    Map<String, List<InventoryItem>> inventories = new ConcurrentHashMap<>();
    try (ExecutorService executor =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("isola-inventory-", 0).factory())) {
      registry
          .providers()
          .forEach(
              (name, provider) -> {
                Future<?> _ =
                    executor.submit(
                        () -> inventory(name, provider, used.contains(name), inventories));
              });
    }
    return inventories;
  }

  private void inventory(
      String name, Provider provider, boolean used, Map<String, List<InventoryItem>> inventories) {
    try {
      inventories.put(name, provider.inventory());
    } catch (SandboxException e) {
      if (used) {
        log.warning("the inventory of " + name + " is not available: " + e.fault().problem());
      }
    }
  }

  private Set<SandboxId> inTransition(
      List<SandboxEntry> entries, Map<String, List<InventoryItem>> inventories) {
    Set<SandboxId> inTransition = ids(inventories);
    entries.forEach(entry -> inTransition.add(entry.id()));
    inTransition.removeIf(id -> !liveSandboxes.isInTransition(id));
    return inTransition;
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
    return ledger
        .sandboxes()
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
      case ReconcileStep.Attach(SandboxEntry entry) -> {
        if (!liveSandboxes.contains(entry.id()) && entry.state() == SandboxState.RUNNING) {
          liveSandboxes.get(entry);
        }
      }
      case ReconcileStep.CorrectState(SandboxEntry entry, SandboxState state) -> {
        SandboxEntry corrected = recorder.withState(entry, state, null);
        recorder.update(
            entry,
            state == SandboxState.RUNNING
                ? SuspensionState.resumed(corrected, corrected.updatedAt())
                : corrected);
        Failpoint.RECONCILE_CORRECTED.reach();
      }
      case ReconcileStep.MarkLost(SandboxEntry entry, String why) -> {
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
}
