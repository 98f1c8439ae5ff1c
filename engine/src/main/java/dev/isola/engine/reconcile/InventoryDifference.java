package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import java.util.Optional;

/**
 * A difference between the record of a sandbox and the inventory of its provider, found by a server
 * that compares the inventory for all servers. The owner of the sandbox decides what to do.
 *
 * @param revision the revision of the record that was compared
 * @param recorded the recorded state
 * @param found the state to record, for {@link Kind#OTHER_STATE}; otherwise the recorded one
 * @param why the cause to record if the sandbox is lost
 */
public record InventoryDifference(
    SandboxId id, long revision, SandboxState recorded, Kind kind, SandboxState found, String why) {

  /** What the inventory says about a sandbox. */
  public enum Kind {
    /** It is not in the inventory. */
    MISSING,
    /** The provider reports that it has ended. */
    ENDED,
    /** It is in another state than recorded. */
    OTHER_STATE,
    /** It is suspended by snapshot, and the provider still has something of it. */
    OBSOLETE
  }

  /**
   * Returns the difference behind a step. Empty if the owner plans the step without an inventory.
   *
   * @param present whether the inventory has the sandbox
   */
  static Optional<InventoryDifference> of(ReconcileStep step, boolean present, RestoreGaps gaps) {
    return switch (step) {
      case ReconcileStep.MarkLost(SandboxEntry entry, String why) ->
          entry.state() == SandboxState.CREATING && !gaps.follow(entry.updatedAt())
              ? Optional.empty()
              : Optional.of(of(entry, present ? Kind.ENDED : Kind.MISSING, entry.state(), why));
      case ReconcileStep.CorrectState(SandboxEntry entry, SandboxState state) ->
          Optional.of(of(entry, Kind.OTHER_STATE, state, ""));
      case ReconcileStep.DiscardSuspended(SandboxEntry entry) ->
          Optional.of(of(entry, Kind.OBSOLETE, entry.state(), ""));
      case ReconcileStep.Attach _,
          ReconcileStep.VerifyLost _,
          ReconcileStep.FinishDestroy _,
          ReconcileStep.LeaveUnrecorded _,
          ReconcileStep.RemoveUnknown _ ->
          Optional.empty();
    };
  }

  private static InventoryDifference of(
      SandboxEntry entry, Kind kind, SandboxState found, String why) {
    return new InventoryDifference(entry.id(), entry.revision(), entry.state(), kind, found, why);
  }

  /**
   * Returns the step of the owner. Empty if the record has changed so that the difference says
   * nothing about it: the next comparison finds what is still different. That a sandbox is missing
   * is always verified, because the other server may see less of the backend than the owner.
   */
  Optional<ReconcileStep> step(SandboxEntry current) {
    boolean unchanged = current.revision() == revision;
    if (current.state() != recorded) {
      return Optional.empty();
    }
    return switch (kind) {
      case MISSING -> Optional.of(new ReconcileStep.VerifyLost(current, why));
      case ENDED ->
          Optional.of(
              unchanged
                  ? new ReconcileStep.MarkLost(current, why)
                  : new ReconcileStep.VerifyLost(current, why));
      case OTHER_STATE ->
          unchanged
              ? Optional.of(new ReconcileStep.CorrectState(current, found))
              : Optional.empty();
      case OBSOLETE ->
          unchanged ? Optional.of(new ReconcileStep.DiscardSuspended(current)) : Optional.empty();
    };
  }
}
