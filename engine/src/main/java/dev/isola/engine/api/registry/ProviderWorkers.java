package dev.isola.engine.api.registry;

import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Carries out work about many sandboxes on virtual threads, a limited number at a time for each
 * provider, so that a provider that hangs delays only its own sandboxes. Work that the caller does
 * not wait for any longer continues, and is not started a second time meanwhile.
 */
public final class ProviderWorkers implements AutoCloseable {
  private final String name;
  private final int parallelism;
  private final Map<Key, Thread> pending = new ConcurrentHashMap<>();
  private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

  /** Work about one sandbox at its provider. */
  public record Work(String provider, SandboxId id, Runnable action) {}

  private record Key(String provider, SandboxId id) {}

  private record Lane(Semaphore permits, AtomicInteger pending) {}

  /**
   * @param name the start of the names of the threads
   * @param parallelism how much is carried out at a time for each provider
   */
  public ProviderWorkers(String name, int parallelism) {
    this.name = name;
    this.parallelism = parallelism;
  }

  /**
   * Starts work, except for sandboxes for which earlier work has not ended, and waits until all of
   * it has ended, or for a limited time. An interrupt of the caller interrupts the work.
   *
   * @return whether all of the work has ended
   */
  public boolean run(List<Work> batch, Duration limit) {
    CountDownLatch left = new CountDownLatch(batch.size());
    for (Work work : batch) {
      start(work, left);
    }
    try {
      return left.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void start(Work work, CountDownLatch left) {
    Lane lane =
        lanes.computeIfAbsent(
            work.provider(), _ -> new Lane(new Semaphore(parallelism), new AtomicInteger()));
    Key key = new Key(work.provider(), work.id());
    Thread thread =
        Thread.ofVirtual()
            .name(name + "-" + work.provider() + "-" + work.id())
            .unstarted(
                () -> {
                  try {
                    lane.permits().acquire();
                    try {
                      work.action().run();
                    } finally {
                      lane.permits().release();
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // the engine is closing
                  } finally {
                    lane.pending().decrementAndGet();
                    pending.remove(key);
                    left.countDown();
                  }
                });
    if (pending.putIfAbsent(key, thread) == null) {
      lane.pending().incrementAndGet();
      thread.start();
    } else {
      left.countDown();
    }
  }

  /** Returns whether work about a sandbox has not ended. */
  public boolean isPending(String provider, SandboxId id) {
    return pending.containsKey(new Key(provider, id));
  }

  /** Returns the number of sandboxes about which work has not ended. */
  public int pending() {
    return pending.size();
  }

  /** Returns the providers with at least this much work that has not ended. */
  public Set<String> busy(int most) {
    return lanes.entrySet().stream()
        .filter(lane -> lane.getValue().pending().get() >= most)
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Interrupts all work; does not wait for it. */
  @Override
  public void close() {
    pending.values().forEach(Thread::interrupt);
  }
}
