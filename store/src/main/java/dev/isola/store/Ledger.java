package dev.isola.store;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The server's durable state. Each call on a part is a separate transaction and durable when it
 * returns; {@link #atomically} combines several calls into one transaction.
 *
 * <p>In addition to the exceptions that a method documents, every call may throw
 *
 * <ul>
 *   <li>{@code DeadlineExceeded}: the deadline passed; nothing was written;
 *   <li>{@code OutcomeUnknown}: the connection was lost during commit; read before retrying;
 *   <li>{@code LimitExceeded} with {@code DISK_FULL}: nothing was written; the ledger remains
 *       usable;
 *   <li>{@code ProviderUnavailable}: the database is unreachable; nothing was written.
 * </ul>
 */
public interface Ledger extends LedgerParts, AutoCloseable {

  /**
   * Runs {@code work} in one transaction: either all of its changes take effect or, if it throws,
   * none. An exception of {@code work} propagates unchanged.
   *
   * <p>{@code work} may run more than once and on another thread, and other writers wait for it. It
   * must use only the parts passed to it, not this ledger, and have no other side effects.
   */
  <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work);

  /**
   * Returns the servers like {@link #servers()}, for the renewal of a lease: on PostgreSQL over a
   * connection that nothing else uses, with a shorter deadline, so that slow calls and clients that
   * wait for a connection do not delay it.
   */
  default ServerEntries leases() {
    return servers();
  }

  /** Returns the disk reserve of the server, which work that frees space may use. */
  default DiskReserve reserve() {
    return DiskReserve.NONE;
  }

  /** Waits for calls in progress and closes the database. Closing again has no effect. */
  @Override
  void close();
}
