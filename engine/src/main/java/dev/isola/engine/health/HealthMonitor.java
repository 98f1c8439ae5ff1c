package dev.isola.engine.health;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.Health;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Provider;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * Knows how every provider stands. Each is asked again and again on a thread of its own; what it
 * said last is kept, so that {@link #current()} costs nothing and never waits for a backend.
 */
public final class HealthMonitor implements AutoCloseable {
  /** How long after the start a request waits for a provider that is slow to answer at first. */
  private static final Duration STARTUP_GRACE = Duration.ofSeconds(30);

  private final ProbeSchedule schedule;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final Sleeper sleeper;
  private final Log log;

  private final long startNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Set<String> slow = new HashSet<>();
  private final Set<String> everHealthy = new HashSet<>();
  private final Map<String, ProviderStatus> statuses = new TreeMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final CountDownLatch firstProbes;
  private volatile List<ProviderStatus> current;

  /**
   * @param absent those that cannot be asked: broken or turned off; they stand as they are
   */
  private HealthMonitor(
      int providers,
      List<ProviderStatus> absent,
      ProbeSchedule rhythm,
      InstantSource clock,
      RandomGenerator random,
      Sleeper pause,
      Log log) {
    this.schedule = rhythm;
    this.clock = clock;
    this.random = random;
    this.sleeper = pause;
    this.log = log;
    this.firstProbes = new CountDownLatch(providers);
    absent.forEach(one -> statuses.put(one.name(), one));
    this.current = List.copyOf(statuses.values());
  }

  /** Starts to ask, and returns at once. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<ProviderStatus> absent,
      ProbeSchedule rhythm,
      InstantSource clock,
      RandomGenerator random,
      Sleeper pause,
      Log log) {
    HealthMonitor monitor =
        new HealthMonitor(providers.size(), absent, rhythm, clock, random, pause, log);
    providers.forEach(monitor::watch);
    return monitor;
  }

  /** Starts to ask in real time. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<ProviderStatus> absent,
      ProbeSchedule rhythm,
      InstantSource clock,
      Log log) {
    return start(
        providers, absent, rhythm, clock, RandomGenerator.getDefault(), Sleeper.SYSTEM, log);
  }

  /** Returns how providers stood when they were last asked, by name. Does not wait. */
  public List<ProviderStatus> current() {
    return current;
  }

  /**
   * Returns {@link #current()} as soon as every provider has been asked once. Takes no longer than
   * the patience with one of them.
   */
  public List<ProviderStatus> awaitFirstProbes() {
    try {
      firstProbes.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while providers were asked", "ask again")
          .exception(e);
    }
    return current;
  }

  /**
   * Returns {@link #awaitFirstProbes()}, or what is known later when that is not enough and the
   * first question to a provider is still open: on a machine that has just booted, one that works
   * may need longer than its patience. A while after the start this no longer waits.
   *
   * @param enough whether the caller can work with what is known
   */
  public List<ProviderStatus> awaitFirstProbes(Predicate<List<ProviderStatus>> enough) {
    awaitFirstProbes();
    lock.lock();
    try {
      long left = STARTUP_GRACE.toNanos() - (System.nanoTime() - startNanos);
      while (left > 0 && !slow.isEmpty() && !enough.test(current)) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while providers were asked", "ask again")
          .exception(e);
    } finally {
      lock.unlock();
    }
    return current;
  }

  private void watch(String name, Provider provider) {
    ProviderProbe watch = new ProviderProbe(name, provider, schedule.timeout(), clock);
    threads.add(Thread.ofVirtual().name("isola-health-watch-" + name).start(() -> watch(watch)));
  }

  private void watch(ProviderProbe watch) {
    try {
      probe(watch, true);
      firstProbes.countDown();
      if (watch.isPending()) {
        watch.awaitPending(STARTUP_GRACE);
        probe(watch, false);
        markSlow(watch.name(), false);
      }
      while (true) {
        sleeper.sleep(schedule.nextDelay(random));
        probe(watch, false);
      }
    } catch (InterruptedException e) {
      // Closed; whoever still waits for the first answers must not wait for ever.
      firstProbes.countDown();
      markSlow(watch.name(), false);
    } finally {
      watch.stop();
    }
  }

  /** Asks once. Nothing that goes wrong ends the watch over a provider. */
  private void probe(ProviderProbe watch, boolean start) throws InterruptedException {
    try {
      ProviderStatus answer = watch.probe();
      if (start && watch.isPending()) {
        markSlow(watch.name(), true);
      }
      record(answer);
    } catch (RuntimeException | Error e) {
      log.warning("the health of a provider could not be recorded: " + e);
    }
  }

  private void markSlow(String name, boolean still) {
    lock.lock();
    try {
      if (still) {
        slow.add(name);
      } else {
        slow.remove(name);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * A provider that was healthy and fell is a warning. One that never was is none: most machines
   * lack most backends, and {@code isola doctor} says which and why.
   */
  private void record(ProviderStatus now) {
    lock.lock();
    try {
      ProviderStatus before = statuses.put(now.name(), now);
      current = List.copyOf(statuses.values());
      changed.signalAll();
      switch (now.health()) {
        case Health.Unhealthy(String reason, String fix) -> {
          if (before != null && before.usable()) {
            warn(now.name(), "is unhealthy and not chosen any more", reason, fix);
          }
        }
        case Health.Degraded(String reason, String fix) -> {
          if (before != null && before.healthy()) {
            warn(now.name(), "is degraded and chosen after all healthy ones", reason, fix);
          }
        }
        case Health.Healthy _ -> {
          if (before != null && !before.healthy()) {
            String again = everHealthy.contains(now.name()) ? "again" : "now";
            log.info("provider " + now.name() + " is healthy " + again);
          }
          everHealthy.add(now.name());
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void warn(String provider, String what, String reason, String fix) {
    log.warning(
        "provider " + provider + " " + what + ": " + reason + (fix.isEmpty() ? "" : "; " + fix));
  }

  /** Stops asking, and waits for questions that are open, for as long as they may take. */
  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
    Duration most = schedule.timeout().multipliedBy(3);
    try {
      for (Thread thread : threads) {
        boolean _ = thread.join(most);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
