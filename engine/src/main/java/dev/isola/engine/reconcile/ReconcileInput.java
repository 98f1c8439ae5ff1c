package dev.isola.engine.reconcile;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is written down and what there is. Providers were asked between the two readings of the
 * ledger: what was alive before must be among what they have, and what they have must have been
 * written down by the time after.
 *
 * @param before what was written down before anybody was asked, without what is destroyed
 * @param seen what providers have, by their names; who did not answer is not in it
 * @param after the ids that were written down after everybody had answered, with their providers
 * @param making what this process is making just now
 * @param leased what belongs to another process that is alive, such as {@code isola run}
 */
public record ReconcileInput(
    List<SandboxEntry> recordedBefore,
    Map<String, List<InventoryItem>> inventories,
    Map<SandboxId, String> recordedAfter,
    Set<SandboxId> inTransition,
    Set<SandboxId> leased) {
  public ReconcileInput {
    recordedBefore = List.copyOf(recordedBefore);
    inventories = Map.copyOf(inventories);
    recordedAfter = Map.copyOf(recordedAfter);
    inTransition = Set.copyOf(inTransition);
    leased = Set.copyOf(leased);
  }
}
