package dev.isola.engine.reconcile;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.peer.Ownership;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.EntryFilter;
import dev.isola.store.EntryPage;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/**
 * Compares the inventories of the providers that every server reaches with the ledger. In each
 * interval one server does it for all: it removes what no server has recorded, and records the
 * other differences, of which each owner handles its own. So the work of all servers together is
 * proportional to the number of sandboxes. A server that dies before it has finished delays this by
 * one interval.
 */
public final class SharedReconciler {
  /** How often inventories are compared at most because sandboxes have ended by themselves. */
  private static final Duration AFTER_END = Duration.ofSeconds(5);

  private final Ledger ledger;
  private final ProviderRegistry registry;
  private final Set<String> providers;
  private final LiveSandboxes liveSandboxes;
  private final SandboxLeases leases;
  private final Ownership ownership;
  private final ReconcileStepExecutor executor;
  private final Duration interval;
  private final Log log;

  /**
   * @param interval the time between two comparisons
   */
  public SharedReconciler(
      Ledger ledger,
      ProviderRegistry registry,
      LiveSandboxes liveSandboxes,
      SandboxLeases leases,
      Ownership ownership,
      ReconcileStepExecutor executor,
      Duration interval,
      Log log) {
    this.ledger = ledger;
    this.registry = registry;
    this.liveSandboxes = liveSandboxes;
    this.leases = leases;
    this.ownership = ownership;
    this.executor = executor;
    this.interval = interval;
    this.log = log;
    providers =
        ownership.server().isEmpty()
            ? Set.of()
            : registry.instances().values().stream()
                .filter(one -> one.profile().shared())
                .map(one -> one.name())
                .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns the providers that every server reaches; none if there is only one server. */
  Set<String> providers() {
    return providers;
  }

  /** Returns what the last comparisons found about the sandboxes of this server. */
  Map<SandboxId, InventoryDifference> differences() {
    return ownership
        .server()
        .map(self -> InventoryDifferences.read(ledger, providers, self))
        .orElse(Map.of());
  }

  /** Compares the inventories that no server has compared in this interval. */
  public void compare() {
    compare("inventory of ", interval);
  }

  /** Compares soon, because a sandbox has ended by itself. */
  void compareAfterEnd() {
    compare("inventory after an end of ", AFTER_END);
  }

  /** Compares in parallel, so that hanging providers cost one timeout in total. */
  private void compare(String task, Duration period) {
    try (ExecutorService workers =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("isola-shared-inventory-", 0).factory())) {
      for (String provider : providers) {
        workers.execute(
            () -> {
              try {
                if (ownership.claim(task + provider, period)) {
                  compare(provider);
                }
              } catch (SandboxException e) {
                log.warning(
                    "the inventory of " + provider + " was not compared: " + e.fault().problem());
              } catch (RuntimeException e) { // must not prevent the others
                log.warning("the inventory of " + provider + " was not compared: " + e);
              }
            });
      }
    }
  }

  private void compare(String provider) {
    List<SandboxEntry> before = entries(provider);
    List<InventoryItem> inventory;
    try {
      inventory = registry.get(provider).inventory();
    } catch (SandboxException e) {
      if (before.isEmpty()) {
        return; // a provider that is not set up, and not used
      }
      throw e;
    }
    Set<SandboxId> present =
        inventory.stream().map(InventoryItem::id).collect(Collectors.toCollection(HashSet::new));
    Set<SandboxId> unknown = new HashSet<>(present);
    before.forEach(entry -> unknown.remove(entry.id()));
    Map<SandboxId, String> after =
        unknown.isEmpty() ? Map.of() : ledger.sandboxes().findOpen(unknown);
    unknown.removeAll(after.keySet());
    RestoreGaps gaps = RestoreGaps.read(ledger);
    List<ReconcileStep> steps =
        ReconcilePlanner.plan(
            new ReconcileInput(
                before,
                Map.of(provider, inventory),
                after,
                unknown.stream().filter(liveSandboxes::isInTransition).collect(Collectors.toSet()),
                unknown.stream().filter(leases::held).collect(Collectors.toSet()),
                gaps));
    InventoryDifferences.replace(
        ledger, provider, ReconcilePlanner.differences(steps, present, gaps));
    executor.execute(steps.stream().filter(one -> one.recorded().isEmpty()).toList());
    leases.recover(lease -> lease.provider().equals(provider) && !present.contains(lease.id()));
  }

  /**
   * Returns the entries of all servers, without what a comparison does not need. Unreadable ones
   * are omitted; their owners quarantine them.
   */
  private List<SandboxEntry> entries(String provider) {
    EntryFilter filter = EntryFilter.ALL.notDestroyed().provider(provider);
    List<SandboxEntry> entries = new ArrayList<>();
    Optional<String> next = Optional.of("");
    while (next.isPresent()) {
      EntryPage page = ledger.sandboxes().list(filter, next.get(), SandboxEntries.MAX_LIMIT);
      page.entries().stream()
          .filter(entry -> entry.damage().isEmpty())
          .map(entry -> entry.toBuilder().spec("{}", "").labels(Map.of()).build())
          .forEach(entries::add);
      next = page.entries().isEmpty() ? Optional.empty() : page.next();
    }
    return entries;
  }
}
