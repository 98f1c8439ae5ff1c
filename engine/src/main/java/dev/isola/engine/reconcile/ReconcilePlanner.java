package dev.isola.engine.reconcile;

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
import org.jspecify.annotations.Nullable;

/** Plans the steps of a reconciliation. Pure. Does nothing about a provider that did not answer. */
final class ReconcilePlanner {
  private ReconcilePlanner() {}

  static List<ReconcileStep> plan(ReconcileInput now) {
    List<ReconcileStep> steps = new ArrayList<>();
    for (SandboxEntry entry : now.recordedBefore()) {
      List<InventoryItem> seen = now.inventories().get(entry.provider());
      if (seen != null && !now.inTransition().contains(entry.id())) {
        planFor(entry, find(seen, entry.id())).ifPresent(steps::add);
      }
    }
    Map<SandboxId, String> known = new HashMap<>(now.recordedAfter());
    now.recordedBefore().forEach(entry -> known.putIfAbsent(entry.id(), entry.provider()));
    now.inventories()
        .forEach(
            (provider, sightings) -> {
              for (InventoryItem sighting : sightings) {
                boolean written = provider.equals(known.get(sighting.id()));
                boolean owned =
                    now.inTransition().contains(sighting.id())
                        || now.leased().contains(sighting.id());
                if (!written && !owned) {
                  steps.add(new ReconcileStep.RemoveUnknown(provider, sighting.id()));
                }
              }
            });
    return steps;
  }

  private static @Nullable InventoryItem find(List<InventoryItem> seen, SandboxId id) {
    return seen.stream().filter(one -> one.id().equals(id)).findFirst().orElse(null);
  }

  private static Optional<ReconcileStep> planFor(
      SandboxEntry entry, @Nullable InventoryItem sighting) {
    return switch (entry.state()) {
      case CREATING ->
          Optional.of(
              new ReconcileStep.MarkLost(
                  entry, "the server stopped while the sandbox was being created"));
      case ERROR, TERMINATING -> Optional.of(new ReconcileStep.FinishDestroy(entry));
      case DESTROYED -> Optional.empty();
      case RUNNING, PAUSED, STOPPED ->
          entry.state() == SandboxState.STOPPED && SuspensionState.snapshot(entry).isPresent()
              ? planSuspended(entry, sighting)
              : Optional.of(planLive(entry, sighting));
    };
  }

  /**
   * Plans for a sandbox suspended by snapshot: whatever the provider still holds is obsolete or
   * partial.
   */
  private static Optional<ReconcileStep> planSuspended(
      SandboxEntry entry, @Nullable InventoryItem sighting) {
    return sighting == null
        ? Optional.empty()
        : Optional.of(new ReconcileStep.DiscardSuspended(entry));
  }

  private static ReconcileStep planLive(SandboxEntry entry, @Nullable InventoryItem sighting) {
    if (sighting == null) {
      return new ReconcileStep.MarkLost(entry, "lost: " + entry.provider() + " no longer has it");
    }
    return switch (sighting.state()) {
      case ERROR, TERMINATING, DESTROYED -> {
        String how = sighting.details().getOrDefault(InventoryItem.END_REASON, "");
        yield new ReconcileStep.MarkLost(
            entry, "lost: its processes are gone" + (how.isEmpty() ? "" : " (" + how + ")"));
      }
      case CREATING -> new ReconcileStep.Attach(entry);
      case RUNNING, PAUSED, STOPPED ->
          sighting.state() == entry.state()
              ? new ReconcileStep.Attach(entry)
              : new ReconcileStep.CorrectState(entry, sighting.state());
    };
  }
}
