/**
 * The ledger: the durable record of sandboxes, volumes, templates and events.
 *
 * <p>The engine is the only caller. It records its intent before it acts, and the outcome before it
 * responds; a call that has returned is durable. Every change of a sandbox is a compare-and-set on
 * its revision, so of two concurrent writers exactly one succeeds and the other learns that it did
 * not.
 *
 * <p>{@link dev.isola.store.Ledgers#open} opens a ledger in a folder (SQLite) or on a server
 * (PostgreSQL); both behave the same. Calls block, may come from any thread and have a deadline.
 * Errors are {@link dev.isola.spi.error.SandboxException}s whose messages contain no stored values.
 */
@NullMarked
package dev.isola.store;

import org.jspecify.annotations.NullMarked;
