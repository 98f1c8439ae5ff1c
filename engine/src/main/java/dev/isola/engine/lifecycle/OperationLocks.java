package dev.isola.engine.lifecycle;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for each sandbox. Two sandboxes never wait for each other, and no wait is without a limit.
 */
public final class OperationLocks {
  private final String operation;
  private final Map<SandboxId, SandboxLock> locks = new ConcurrentHashMap<>();

  /**
   * @param operation what is done under the lock, for the message
   */
  public OperationLocks(String operation) {
    this.operation = operation;
  }

  private static final class SandboxLock {
    private final ReentrantLock lock = new ReentrantLock(true);
    private int users;
  }

  /** Releases the lock; the thread that took it closes it. */
  public interface Handle extends AutoCloseable {
    @Override
    void close();
  }

  /** Takes the lock of a sandbox, unless another thread holds it. */
  public Optional<Handle> tryTake(SandboxId id) {
    SandboxLock one = use(id);
    if (one.lock.tryLock()) {
      return Optional.of(() -> release(id, one));
    }
    leave(id);
    return Optional.empty();
  }

  /**
   * Takes the lock of a sandbox.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if another thread does not release it in time
   */
  public Handle take(SandboxId id, Duration wait) {
    SandboxLock one = use(id);
    boolean taken = false;
    try {
      taken = one.lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "the request was ended while it waited for " + operation + " of sandbox " + id,
              "repeat the request")
          .sandbox(id)
          .exception(e);
    } finally {
      if (!taken) {
        leave(id);
      }
    }
    if (!taken) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              operation + " of sandbox " + id + " has taken more than " + wait.toSeconds() + " s",
              "try again later")
          .sandbox(id)
          .exception();
    }
    return () -> release(id, one);
  }

  private SandboxLock use(SandboxId id) {
    return locks.compute(
        id,
        (_, was) -> {
          SandboxLock one = was == null ? new SandboxLock() : was;
          one.users++;
          return one;
        });
  }

  private void release(SandboxId id, SandboxLock one) {
    one.lock.unlock();
    leave(id);
  }

  private void leave(SandboxId id) {
    locks.computeIfPresent(id, (_, one) -> --one.users == 0 ? null : one);
  }
}
