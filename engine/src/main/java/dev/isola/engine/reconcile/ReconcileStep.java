package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;

/** A step that removes one difference between the ledger and a provider. */
public sealed interface ReconcileStep {
  /** Attaches to a sandbox that exists as recorded. */
  record Attach(SandboxEntry entry) implements ReconcileStep {}

  /** Corrects the recorded state of a sandbox. */
  record CorrectState(SandboxEntry entry, SandboxState state) implements ReconcileStep {}

  /** Records a missing or half-created sandbox as lost and removes what is left of it. */
  record MarkLost(SandboxEntry entry, String why) implements ReconcileStep {}

  /** Finishes a destruction that was interrupted. */
  record FinishDestroy(SandboxEntry entry) implements ReconcileStep {}

  /** Discards what the provider still holds of a sandbox suspended by snapshot. */
  record DiscardSuspended(SandboxEntry entry) implements ReconcileStep {}

  /**
   * Leaves a sandbox alone that is not recorded because it was created after the backup that the
   * ledger was restored from.
   */
  record LeaveUnrecorded(String provider, SandboxId id) implements ReconcileStep {}

  /** Removes a sandbox of this installation that is not recorded. */
  record RemoveUnknown(String provider, SandboxId id) implements ReconcileStep {}
}
