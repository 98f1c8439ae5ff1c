package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Locks by sandbox id: serializes create, attach and destroy of one sandbox, while those of others
 * run concurrently.
 */
public final class SandboxLocks {
  private static final class CountedLock {
    final ReentrantLock lock = new ReentrantLock();
    int waiting;
  }

  private final Map<SandboxId, CountedLock> turns = new ConcurrentHashMap<>();

  /** Runs {@code action} while holding the lock of {@code id}. */
  public <T> T withLock(SandboxId id, Supplier<T> action) {
    CountedLock turn =
        turns.compute(
            id,
            (key, now) -> {
              CountedLock mine = now == null ? new CountedLock() : now;
              mine.waiting++;
              return mine;
            });
    turn.lock.lock();
    try {
      return action.get();
    } finally {
      turn.lock.unlock();
      turns.compute(id, (key, now) -> --turn.waiting == 0 ? null : now);
    }
  }

  /**
   * Runs {@code action} with the lock of {@code id}, unless another thread holds it or waits for
   * it.
   */
  public void tryWithLock(SandboxId id, Runnable action) {
    CountedLock turn = new CountedLock();
    turn.waiting = 1;
    turn.lock.lock();
    try {
      if (turns.putIfAbsent(id, turn) == null) {
        try {
          action.run();
        } finally {
          turns.compute(id, (key, now) -> --turn.waiting == 0 ? null : now);
        }
      }
    } finally {
      turn.lock.unlock();
    }
  }
}
