/**
 * The ledger: what is known about sandboxes, kept where a crash of the server does not reach it.
 *
 * <p>The engine is the only caller. It writes what it intends before it acts and what came of it
 * before it answers: a call that returned is on disk. Every change of a sandbox is a
 * compare-and-set on its revision, so of two parties that want different things exactly one gets
 * its way and the other is told.
 *
 * <p>{@link dev.isola.store.Ledgers#open} opens one, in a folder (SQLite) or on a server
 * (PostgreSQL); both behave the same. Calls block, may come from any thread and have a deadline.
 * What goes wrong is a {@link dev.isola.spi.error.SandboxException}; no message has a value that
 * was stored.
 */
@NullMarked
package dev.isola.store;

import org.jspecify.annotations.NullMarked;
