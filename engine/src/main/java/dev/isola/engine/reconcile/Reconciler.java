package dev.isola.engine.reconcile;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.peer.Ownership;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.store.EntryFilter;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;

/**
 * Corrects the differences between the records of this server's sandboxes and the providers. It
 * takes the inventories of the providers that only this server reaches, where it also removes what
 * no server has recorded. Those that every server reaches are compared by {@link SharedReconciler},
 * at one server for all.
 */
public final class Reconciler {
  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final LiveSandboxes liveSandboxes;
  private final SandboxLeases leases;
  private final Quarantine quarantine;
  private final Ownership ownership;
  private final SharedReconciler shared;
  private final ReconcileStepExecutor executor;
  private final Log log;

  public Reconciler(
      Ledger ledger,
      ProviderRegistry registry,
      LiveSandboxes liveSandboxes,
      SandboxLeases leases,
      Quarantine quarantine,
      Ownership ownership,
      SharedReconciler shared,
      ReconcileStepExecutor executor,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.liveSandboxes = liveSandboxes;
    this.leases = leases;
    this.quarantine = quarantine;
    this.ownership = ownership;
    this.shared = shared;
    this.executor = executor;
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
    RestoreGaps gaps = RestoreGaps.read(ledger);
    Set<SandboxId> inTransition = inTransition(before, inventories);
    List<ReconcileStep> steps =
        new ArrayList<>(
            ReconcilePlanner.plan(
                new ReconcileInput(
                    before, inventories, after, inTransition, leased(inventories, after), gaps)));
    steps.addAll(planShared(before, inTransition, gaps));
    Failpoint.RECONCILE_PLANNED.reach();
    executor.execute(steps);
    recoverLeases(inventories);
    return steps;
  }

  private List<ReconcileStep> planShared(
      List<SandboxEntry> entries, Set<SandboxId> inTransition, RestoreGaps gaps) {
    return shared.providers().isEmpty()
        ? List.of()
        : ReconcilePlanner.planOwned(
            entries.stream().filter(one -> shared.providers().contains(one.provider())).toList(),
            shared.differences(),
            inTransition,
            gaps);
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
      shared.compareAfterEnd();
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
   * Queries the providers in parallel, so that hanging ones cost one timeout in total. A failure is
   * logged only if the ledger has sandboxes of that provider.
   */
  private Map<String, List<InventoryItem>> inventories(List<SandboxEntry> entries) {
    Set<String> used = new HashSet<>();
    entries.forEach(entry -> used.add(entry.provider()));
    Map<String, List<InventoryItem>> inventories = new ConcurrentHashMap<>();
    Predicate<String> own = Predicate.not(shared.providers()::contains);
    try (ExecutorService executor =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("isola-inventory-", 0).factory())) {
      registry
          .providers()
          .forEach(
              (name, provider) -> {
                if (own.test(name)) {
                  Future<?> _ =
                      executor.submit(
                          () -> inventory(name, provider, used.contains(name), inventories));
                }
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
}
