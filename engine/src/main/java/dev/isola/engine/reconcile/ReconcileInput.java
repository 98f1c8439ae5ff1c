package dev.isola.engine.reconcile;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The input of a reconciliation. Inventories are taken between two reads of the ledger: a sandbox
 * recorded before must appear in them, and a sandbox that appears in them must be recorded after.
 *
 * @param recordedBefore the entries before the inventories, without destroyed ones
 * @param inventories the inventory of each provider that answered, by name
 * @param recordedAfter the recorded ids after the inventories, with their providers
 * @param inTransition the sandboxes that this process is creating or suspending
 * @param leased the sandboxes of other live processes, such as {@code isola run}
 * @param gaps the periods of which a restored ledger has no records
 */
public record ReconcileInput(
    List<SandboxEntry> recordedBefore,
    Map<String, List<InventoryItem>> inventories,
    Map<SandboxId, String> recordedAfter,
    Set<SandboxId> inTransition,
    Set<SandboxId> leased,
    RestoreGaps gaps) {
  public ReconcileInput {
    recordedBefore = List.copyOf(recordedBefore);
    inventories = Map.copyOf(inventories);
    recordedAfter = Map.copyOf(recordedAfter);
    inTransition = Set.copyOf(inTransition);
    leased = Set.copyOf(leased);
  }

  /** Creates the input for a ledger that was never restored. */
  public ReconcileInput(
      List<SandboxEntry> recordedBefore,
      Map<String, List<InventoryItem>> inventories,
      Map<SandboxId, String> recordedAfter,
      Set<SandboxId> inTransition,
      Set<SandboxId> leased) {
    this(recordedBefore, inventories, recordedAfter, inTransition, leased, RestoreGaps.NONE);
  }
}
