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
    final ReentrantLock mutex = new ReentrantLock();
    int waiting;
  }

  private final Map<SandboxId, CountedLock> locks = new ConcurrentHashMap<>();

  /** Releases the lock of a sandbox; the thread that took it closes it. */
  public interface HeldLock extends AutoCloseable {
    @Override
    void close();
  }

  /** Runs {@code action} while holding the lock of {@code id}. */
  public <T> T withLock(SandboxId id, Supplier<T> action) {
    try (HeldLock _ = take(id)) {
      return action.get();
    }
  }

  /** Takes the lock of {@code id}. */
  public HeldLock take(SandboxId id) {
    CountedLock held =
        locks.compute(
            id,
            (key, now) -> {
              CountedLock entry = now == null ? new CountedLock() : now;
              entry.waiting++;
              return entry;
            });
    held.mutex.lock();
    return () -> {
      held.mutex.unlock();
      locks.compute(id, (key, now) -> --held.waiting == 0 ? null : now);
    };
  }

  /**
   * Runs {@code action} with the lock of {@code id}, unless another thread holds it or waits for
   * it.
   */
  public void tryWithLock(SandboxId id, Runnable action) {
    CountedLock held = new CountedLock();
    held.waiting = 1;
    held.mutex.lock();
    try {
      if (locks.putIfAbsent(id, held) == null) {
        try {
          action.run();
        } finally {
          locks.compute(id, (key, now) -> --held.waiting == 0 ? null : now);
        }
      }
    } finally {
      held.mutex.unlock();
    }
  }
}
