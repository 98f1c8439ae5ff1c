package dev.isola.engine.reconcile;

import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SuspensionState;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Plans the steps of a reconciliation. Pure. Does nothing about a provider that did not answer. */
public final class ReconcilePlanner {
  private ReconcilePlanner() {}

  /** Returns the steps, in time proportional to the entries and the inventories. */
  public static List<ReconcileStep> plan(ReconcileInput input) {
    List<ReconcileStep> steps = new ArrayList<>();
    Map<String, Map<SandboxId, InventoryItem>> inventories = byId(input.inventories());
    for (SandboxEntry entry : input.recordedBefore()) {
      Map<SandboxId, InventoryItem> inventory = inventories.get(entry.provider());
      if (inventory != null && !input.inTransition().contains(entry.id())) {
        planFor(entry, inventory.get(entry.id()), input.gaps()).ifPresent(steps::add);
      }
    }
    Map<SandboxId, String> known = new HashMap<>(input.recordedAfter());
    input.recordedBefore().forEach(entry -> known.putIfAbsent(entry.id(), entry.provider()));
    input
        .inventories()
        .forEach(
            (provider, items) -> {
              for (InventoryItem item : items) {
                boolean recorded = provider.equals(known.get(item.id()));
                boolean owned =
                    input.inTransition().contains(item.id()) || input.leased().contains(item.id());
                if (!recorded && !owned) {
                  steps.add(
                      input.gaps().contain(item.createdAt())
                          ? new ReconcileStep.LeaveUnrecorded(provider, item.id())
                          : new ReconcileStep.RemoveUnknown(provider, item.id()));
                }
              }
            });
    return steps;
  }

  /**
   * Returns the steps of the owner of sandboxes whose inventories one server compares for all. A
   * sandbox for which that server has found no difference is as recorded.
   *
   * @param entries sandboxes of this server, at providers that every server reaches
   * @param differences what the last comparisons found, by sandbox
   * @param inTransition the sandboxes that this server is creating or suspending
   */
  public static List<ReconcileStep> planOwned(
      List<SandboxEntry> entries,
      Map<SandboxId, InventoryDifference> differences,
      Set<SandboxId> inTransition,
      RestoreGaps gaps) {
    List<ReconcileStep> steps = new ArrayList<>();
    for (SandboxEntry entry : entries) {
      if (!inTransition.contains(entry.id())) {
        InventoryDifference difference = differences.get(entry.id());
        planOwned(entry, Optional.ofNullable(difference), gaps).ifPresent(steps::add);
      }
    }
    return steps;
  }

  private static Optional<ReconcileStep> planOwned(
      SandboxEntry entry, Optional<InventoryDifference> difference, RestoreGaps gaps) {
    return switch (entry.state()) {
      case CREATING ->
          gaps.follow(entry.updatedAt())
              ? difference.flatMap(one -> one.step(entry))
              : Optional.of(planCreating(entry, null, gaps));
      case ERROR, TERMINATING -> Optional.of(new ReconcileStep.FinishDestroy(entry));
      case DESTROYED -> Optional.empty();
      case RUNNING, PAUSED, STOPPED ->
          difference
              .flatMap(one -> one.step(entry))
              .or(() -> Optional.of(new ReconcileStep.Attach(entry)));
    };
  }

  /**
   * Returns what one server finds for all when it compares the inventory of a shared provider, by
   * owner.
   *
   * @param steps the steps of {@link #plan} for that provider
   */
  public static Map<String, List<InventoryDifference>> differences(
      List<ReconcileStep> steps, Set<SandboxId> inventory, RestoreGaps gaps) {
    Map<String, List<InventoryDifference>> byOwner = new HashMap<>();
    for (ReconcileStep step : steps) {
      step.recorded()
          .ifPresent(
              entry ->
                  InventoryDifference.of(step, inventory.contains(entry.id()), gaps)
                      .ifPresent(
                          one ->
                              byOwner
                                  .computeIfAbsent(entry.owner(), _ -> new ArrayList<>())
                                  .add(one)));
    }
    return byOwner;
  }

  private static Map<String, Map<SandboxId, InventoryItem>> byId(
      Map<String, List<InventoryItem>> inventories) {
    Map<String, Map<SandboxId, InventoryItem>> all = new HashMap<>();
    inventories.forEach(
        (provider, items) -> {
          Map<SandboxId, InventoryItem> byId = new HashMap<>();
          items.forEach(item -> byId.putIfAbsent(item.id(), item));
          all.put(provider, byId);
        });
    return all;
  }

  private static Optional<ReconcileStep> planFor(
      SandboxEntry entry, @Nullable InventoryItem item, RestoreGaps gaps) {
    return switch (entry.state()) {
      case CREATING -> Optional.of(planCreating(entry, item, gaps));
      case ERROR, TERMINATING -> Optional.of(new ReconcileStep.FinishDestroy(entry));
      case DESTROYED -> Optional.empty();
      case RUNNING, PAUSED, STOPPED ->
          entry.state() == SandboxState.STOPPED && SuspensionState.snapshot(entry).isPresent()
              ? planSuspended(entry, item, gaps)
              : Optional.of(planLive(entry, item));
    };
  }

  /**
   * Plans for a sandbox that was being created: the server stopped meanwhile, or the ledger was
   * restored from a backup of that moment and the server finished creating it afterwards.
   */
  private static ReconcileStep planCreating(
      SandboxEntry entry, @Nullable InventoryItem item, RestoreGaps gaps) {
    return item != null && item.state() == SandboxState.RUNNING && gaps.follow(entry.updatedAt())
        ? new ReconcileStep.CorrectState(entry, SandboxState.RUNNING)
        : new ReconcileStep.MarkLost(entry, SandboxRecorder.INTERRUPTED);
  }

  /**
   * Plans for a sandbox suspended by snapshot: whatever the provider still holds is obsolete or
   * partial, unless the sandbox was resumed after the backup that the ledger was restored from.
   */
  private static Optional<ReconcileStep> planSuspended(
      SandboxEntry entry, @Nullable InventoryItem item, RestoreGaps gaps) {
    if (item == null) {
      return Optional.empty();
    }
    boolean resumed =
        item.state() == SandboxState.RUNNING
            && gaps.follow(entry.updatedAt())
            && gaps.contain(item.createdAt());
    return Optional.of(
        resumed
            ? new ReconcileStep.CorrectState(entry, SandboxState.RUNNING)
            : new ReconcileStep.DiscardSuspended(entry));
  }

  private static ReconcileStep planLive(SandboxEntry entry, @Nullable InventoryItem item) {
    if (item == null) {
      return new ReconcileStep.MarkLost(entry, "lost: " + entry.provider() + " no longer has it");
    }
    return switch (item.state()) {
      case ERROR, TERMINATING, DESTROYED -> {
        String how = item.details().getOrDefault(InventoryItem.END_REASON, "");
        yield new ReconcileStep.MarkLost(
            entry, "lost: its processes are gone" + (how.isEmpty() ? "" : " (" + how + ")"));
      }
      case CREATING -> new ReconcileStep.Attach(entry);
      case RUNNING, PAUSED, STOPPED ->
          item.state() == entry.state()
              ? new ReconcileStep.Attach(entry)
              : new ReconcileStep.CorrectState(entry, item.state());
    };
  }
}
