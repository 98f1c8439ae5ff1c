package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import java.util.Optional;

/** A step that removes one difference between the ledger and a provider. */
public sealed interface ReconcileStep {
  /** Returns the record of the sandbox; empty if it is not recorded. */
  default Optional<SandboxEntry> recorded() {
    return switch (this) {
      case Attach(SandboxEntry entry) -> Optional.of(entry);
      case CorrectState(SandboxEntry entry, SandboxState _) -> Optional.of(entry);
      case MarkLost(SandboxEntry entry, String _) -> Optional.of(entry);
      case VerifyLost(SandboxEntry entry, String _) -> Optional.of(entry);
      case FinishDestroy(SandboxEntry entry) -> Optional.of(entry);
      case DiscardSuspended(SandboxEntry entry) -> Optional.of(entry);
      case LeaveUnrecorded _, RemoveUnknown _ -> Optional.empty();
    };
  }

  /** Returns the provider that has, or had, the sandbox. */
  default String provider() {
    return recorded().orElseThrow().provider();
  }

  /** Returns the sandbox. */
  default SandboxId id() {
    return recorded().orElseThrow().id();
  }

  /** Attaches to a sandbox that exists as recorded. */
  record Attach(SandboxEntry entry) implements ReconcileStep {}

  /** Corrects the recorded state of a sandbox. */
  record CorrectState(SandboxEntry entry, SandboxState state) implements ReconcileStep {}

  /** Records a missing or half-created sandbox as lost and removes what is left of it. */
  record MarkLost(SandboxEntry entry, String why) implements ReconcileStep {}

  /**
   * Records a sandbox as lost that another server has not found at the provider, if this server,
   * which owns it, does not find it either.
   */
  record VerifyLost(SandboxEntry entry, String why) implements ReconcileStep {}

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
