package dev.isola.store;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A ledger in memory with the compare-and-set semantics of the real ones: one lock instead of
 * transactions, and a list of undo steps instead of a rollback. It has neither volumes nor
 * templates.
 */
public final class InMemoryLedger implements Ledger {
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private boolean inTransaction;

  private final InMemoryEvents events = new InMemoryEvents(this);
  private final InMemoryIdempotencyKeys keys;
  private final InMemorySandboxes sandboxes;
  private final InMemorySettings settings = new InMemorySettings(this);
  private final InMemoryServers servers;

  /**
   * @param history whether state transitions are stored, which takes memory
   * @param clock the clock of the database
   */
  public InMemoryLedger(Duration keyRetention, boolean history, InstantSource clock) {
    servers = new InMemoryServers(this, clock);
    keys = new InMemoryIdempotencyKeys(this, keyRetention);
    sandboxes = new InMemorySandboxes(this, events, keys, history);
  }

  @Override
  public InMemorySandboxes sandboxes() {
    return sandboxes;
  }

  @Override
  public InMemoryEvents events() {
    return events;
  }

  @Override
  public IdempotencyKeys idempotency() {
    return keys;
  }

  @Override
  public SettingEntries settings() {
    return settings;
  }

  @Override
  public InMemoryServers servers() {
    return servers;
  }

  @Override
  public VolumeEntries volumes() {
    throw new UnsupportedOperationException("the ledger in memory has no volumes");
  }

  @Override
  public TemplateEntries templates() {
    throw new UnsupportedOperationException("the ledger in memory has no templates");
  }

  @Override
  public <T extends @Nullable Object> T atomically(Function<LedgerParts, T> work) {
    return locked(
        () -> {
          if (inTransaction) {
            throw new IllegalStateException("a transaction must use only the parts passed to it");
          }
          inTransaction = true;
          try {
            T result = work.apply(this);
            undo.clear();
            return result;
          } finally {
            while (!undo.isEmpty()) {
              undo.pop().run();
            }
            inTransaction = false;
          }
        });
  }

  /** Runs a part of the ledger while no other thread does. */
  <T extends @Nullable Object> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  /** Registers how to revert a change if the transaction, if there is one, fails. */
  void onRollback(Runnable step) {
    if (inTransaction) {
      undo.push(step);
    }
  }

  @Override
  public void close() {}
}
