package dev.isola.store;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What outlives the server. Each call on a part is a transaction of its own and durable when it
 * returns; {@link #atomically} makes one of several.
 *
 * <p>Besides what a method names, every call may throw
 *
 * <ul>
 *   <li>{@code DeadlineExceeded}: it waited as long as it may; nothing was written;
 *   <li>{@code OutcomeUnknown}: it was cut off while committing; read before trying again;
 *   <li>{@code LimitExceeded} with {@code DISK_FULL}: nothing was written, the ledger goes on;
 *   <li>{@code ProviderUnavailable}: the database cannot be reached; nothing was written.
 * </ul>
 */
public interface Ledger extends LedgerParts, AutoCloseable {

  /**
   * Does several things as one: all of it is there afterwards, or, when {@code work} throws,
   * nothing. What it throws comes out of here unchanged.
   *
   * <p>The work may be run more than once, on another thread, and others wait for it: it uses the
   * parts it is given, not this ledger, and does nothing else. It appends events last, because an
   * append holds up every other one until the end.
   */
  <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work);

  /** Waits for calls under way and lets go of the database. Calling it again does nothing. */
  @Override
  void close();
}
