package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The sandboxes of the ledger and their history. */
public interface SandboxEntries {

  /** The most that one call of {@link #list} or {@link #findExpired} returns. */
  int MAX_LIMIT = 1000;

  /**
   * Writes the intent to make a sandbox.
   *
   * @param entry in state {@code CREATING}, with revision 0
   * @return the entry as stored, with revision 1
   * @throws dev.isola.spi.error.Conflict when the id is taken, also by a destroyed sandbox
   */
  SandboxEntry insert(SandboxEntry entry);

  Optional<SandboxEntry> find(SandboxId id);

  /**
   * Writes {@code entry} if nobody has written since it was read: its revision is still the stored
   * one. A change of state goes into the history with {@code updatedAt} and {@code cause}.
   *
   * @throws dev.isola.spi.error.Conflict with {@code ILLEGAL_STATE} when the stored state may not
   *     become the given one
   * @throws dev.isola.spi.error.NotFound when there is no such sandbox
   */
  UpdateResult update(SandboxEntry entry);

  /**
   * Notes that sandboxes were in use, for their idle timeout. Those that are newer, not alive or
   * not there are passed over. The revision moves on, so an expiry that was decided before loses.
   *
   * @return how many were written
   */
  int touch(Map<SandboxId, Instant> lastActivity);

  /**
   * Returns a page in the order of creation, or in the reverse one as the filter says.
   *
   * @param after the cursor of the page before, or empty text to begin
   * @param limit 1 to {@link #MAX_LIMIT}
   * @throws dev.isola.spi.error.InvalidRequest when the cursor is none of ours
   */
  EntryPage list(EntryFilter filter, String after, int limit);

  /**
   * Returns the living sandboxes whose time is up or that were idle too long, the longest due
   * first. Taking one down is an {@link #update}: who renewed it in between wins.
   */
  List<SandboxEntry> findExpired(Instant now, int limit);

  /** Hands out a running sandbox of the warm pool, to one claimer only; empty when none fits. */
  Optional<SandboxEntry> claimPooled(PoolClaim claim);

  /** Counts the sandboxes that are not destroyed; what there is none of is left out. */
  List<EntryCount> countByState();

  /** Returns the changes of state, oldest first. */
  List<Transition> transitions(SandboxId id);

  /**
   * Forgets the destroyed sandboxes that were last changed before {@code before}, with their
   * history, events and idempotency keys.
   *
   * @return how many
   */
  int purge(Instant before);
}
