package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The sandboxes of the ledger and their history. */
public interface SandboxEntries {

  /** The maximum that one call of {@link #list} or {@link #findExpired} returns. */
  int MAX_LIMIT = 1000;

  /**
   * Records the intent to create a sandbox.
   *
   * @param entry an entry in state {@code CREATING} with revision 0
   * @return the entry as stored, with revision 1
   * @throws dev.isola.spi.error.Conflict if the id is taken, even by a destroyed sandbox, or the
   *     name is taken by a sandbox of the tenant that is not destroyed
   */
  SandboxEntry insert(SandboxEntry entry);

  Optional<SandboxEntry> find(SandboxId id);

  /**
   * Writes {@code entry} if its revision is still the stored one. A change of state is added to the
   * history with {@code updatedAt} and {@code cause}.
   *
   * @throws dev.isola.spi.error.Conflict with {@code ILLEGAL_STATE} if the stored state cannot
   *     change to the given one
   * @throws dev.isola.spi.error.NotFound if the sandbox does not exist
   */
  UpdateResult update(SandboxEntry entry);

  /**
   * Records the last activity of sandboxes for their idle timeouts. Sandboxes with a later
   * activity, sandboxes that are not alive, and unknown ids are skipped. The revision increases, so
   * an expiry that was decided earlier fails.
   *
   * @return the number of updated entries
   */
  int touch(Map<SandboxId, Instant> lastActivity);

  /**
   * Returns a page in the order of creation, or in reverse order if the filter says so.
   *
   * @param after the cursor of the previous page, or empty text for the first page
   * @param limit from 1 to {@link #MAX_LIMIT}
   * @throws dev.isola.spi.error.InvalidRequest if the cursor is invalid
   */
  EntryPage list(EntryFilter filter, String after, int limit);

  /** Returns all sandboxes that match, in as many reads as that takes. */
  default List<SandboxEntry> listAll(EntryFilter filter) {
    List<SandboxEntry> all = new ArrayList<>();
    EntryPage page = list(filter, "", MAX_LIMIT);
    all.addAll(page.entries());
    while (page.next().isPresent() && !page.entries().isEmpty()) {
      page = list(filter, page.next().get(), MAX_LIMIT);
      all.addAll(page.entries());
    }
    return all;
  }

  /**
   * Returns the live sandboxes whose expiry or idle timeout has passed, the longest overdue first.
   * The caller expires them with {@link #update}, which fails if a client has renewed the sandbox
   * in the meantime.
   */
  default List<SandboxEntry> findExpired(Instant now, int limit) {
    return findExpired(Optional.empty(), Set.of(), now, limit);
  }

  /**
   * Returns the sandboxes that {@link #findExpired(Instant, int)} returns, of one owner or of all.
   *
   * @param except the providers whose sandboxes are omitted
   */
  List<SandboxEntry> findExpired(
      Optional<String> owner, Set<String> except, Instant now, int limit);

  /**
   * Makes a server the owner of sandboxes that have none: their owner has no valid lease, or no
   * name. Several servers that do this concurrently get different sandboxes. The revision
   * increases, so that a write of the former owner fails.
   *
   * @return the sandboxes with their new owner
   */
  List<SandboxEntry> takeOver(TakeOver request);

  /**
   * Gives up sandboxes of a server that shuts down, so that another server can take them over at
   * once. The revision increases, so that a write of the server fails afterwards. Sandboxes that
   * are being created or destroyed, or that another server owns, are left unchanged.
   *
   * @return the sandboxes that have no owner now
   */
  List<SandboxId> giveUp(String owner, Collection<SandboxId> ids);

  /**
   * Makes a server the owner of all sandboxes whose owner has no name, which are those of the time
   * when it had the ledger to itself.
   *
   * @return the number of sandboxes
   */
  int adopt(String owner);

  /** Returns which of these sandboxes are recorded and not destroyed, with their providers. */
  Map<SandboxId, String> findOpen(Collection<SandboxId> ids);

  /**
   * Claims a running sandbox of the warm pool for exactly one caller. Empty if none matches, or if
   * the name of the claim is taken.
   */
  Optional<SandboxEntry> claimPooled(PoolClaim claim);

  /** Counts the sandboxes that are not destroyed. Combinations without sandboxes are omitted. */
  List<EntryCount> countByState();

  /** Counts the live sandboxes that expire before {@code time}; idle timeouts do not count. */
  long countExpiring(Instant time);

  /** Returns the state transitions, oldest first. */
  List<Transition> transitions(SandboxId id);

  /**
   * Deletes the destroyed sandboxes that were last updated before {@code before}, with their
   * history, events and idempotency keys.
   *
   * @return the number of deleted sandboxes
   */
  int purge(Instant before);
}
