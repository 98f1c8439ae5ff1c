package dev.isola.engine.api.health;

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
 * Probes all providers periodically, each on its own thread, and keeps the latest results, so that
 * {@link #current()} is cheap and never waits for a backend.
 */
public final class HealthMonitor implements AutoCloseable {
  /**
   * How long after the start a request waits for a provider that is slow to answer its first probe.
   */
  private static final Duration STARTUP_GRACE = Duration.ofSeconds(30);

  /** Requests to probe all providers that arrive within this time share their results. */
  private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(1);

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
  private final List<ProviderProbe> probes = new ArrayList<>();
  private final ReentrantLock refreshing = new ReentrantLock();
  private long refreshedNanos = startNanos - REFRESH_INTERVAL.toNanos();
  private final CountDownLatch firstProbes;
  private volatile List<ProviderStatus> current;

  /**
   * @param unavailable providers that cannot be probed, because they are broken or disabled
   */
  private HealthMonitor(
      int providers,
      List<ProviderStatus> unavailable,
      ProbeSchedule schedule,
      InstantSource clock,
      RandomGenerator random,
      Sleeper sleeper,
      Log log) {
    this.schedule = schedule;
    this.clock = clock;
    this.random = random;
    this.sleeper = sleeper;
    this.log = log;
    this.firstProbes = new CountDownLatch(providers);
    unavailable.forEach(one -> statuses.put(one.name(), one));
    this.current = List.copyOf(statuses.values());
  }

  /** Starts probing and returns immediately. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<ProviderStatus> unavailable,
      ProbeSchedule schedule,
      InstantSource clock,
      RandomGenerator random,
      Sleeper sleeper,
      Log log) {
    HealthMonitor monitor =
        new HealthMonitor(providers.size(), unavailable, schedule, clock, random, sleeper, log);
    providers.forEach(monitor::startProbing);
    return monitor;
  }

  /** Starts probing with the system timer and random source. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<ProviderStatus> unavailable,
      ProbeSchedule schedule,
      InstantSource clock,
      Log log) {
    return start(
        providers, unavailable, schedule, clock, RandomGenerator.getDefault(), Sleeper.SYSTEM, log);
  }

  /** Returns the latest statuses, sorted by provider name. Does not block. */
  public List<ProviderStatus> current() {
    return current;
  }

  /**
   * Returns {@link #current()} once every provider has been probed. Blocks no longer than one probe
   * timeout.
   */
  public List<ProviderStatus> awaitFirstProbes() {
    try {
      firstProbes.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "interrupted while waiting for the first health probes",
              "retry the request")
          .exception(e);
    }
    return current;
  }

  /**
   * Returns {@link #awaitFirstProbes()}. If the result is not sufficient and the first probe of a
   * provider is still pending, waits for it: on a machine that has just booted, or is busy, a
   * working provider may exceed its timeout. Does not wait once the startup grace period is over.
   *
   * @param sufficient tests whether the caller can work with the statuses
   */
  public List<ProviderStatus> awaitFirstProbes(Predicate<List<ProviderStatus>> sufficient) {
    awaitFirstProbes();
    lock.lock();
    try {
      long left = STARTUP_GRACE.toNanos() - (System.nanoTime() - startNanos);
      while (left > 0 && !slow.isEmpty() && !sufficient.test(current)) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "interrupted while waiting for the first health probes",
              "retry the request")
          .exception(e);
    } finally {
      lock.unlock();
    }
    return current;
  }

  /**
   * Probes all providers now, and returns {@link #current()} after that. Blocks no longer than two
   * probe timeouts for each caller that waits.
   */
  public List<ProviderStatus> refresh() {
    awaitFirstProbes();
    List<Thread> started = new ArrayList<>();
    try {
      refreshing.lockInterruptibly();
      try {
        if (System.nanoTime() - refreshedNanos >= REFRESH_INTERVAL.toNanos()) {
          probes.forEach(
              probe ->
                  started.add(
                      Thread.ofVirtual()
                          .name("isola-health-refresh-" + probe.name())
                          .start(() -> refresh(probe))));
          for (Thread thread : started) {
            thread.join();
          }
          refreshedNanos = System.nanoTime();
        }
      } finally {
        refreshing.unlock();
      }
    } catch (InterruptedException e) {
      started.forEach(Thread::interrupt);
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "interrupted while waiting for health probes",
              "retry the request")
          .exception(e);
    }
    return current;
  }

  private void refresh(ProviderProbe probe) {
    try {
      probe.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the caller of refresh() has been interrupted
    }
  }

  private void startProbing(String name, Provider provider) {
    ProviderProbe probe = new ProviderProbe(name, provider, schedule, clock, this::record);
    probes.add(probe);
    threads.add(
        Thread.ofVirtual().name("isola-health-watch-" + name).start(() -> probeForever(probe)));
  }

  private void probeForever(ProviderProbe probe) {
    try {
      probe.run();
      markSlow(probe.name(), probe.isPending());
      firstProbes.countDown();
      probe.awaitPending(STARTUP_GRACE);
      markSlow(probe.name(), false);
      boolean late = probe.isPending();
      while (true) {
        sleeper.sleep(schedule.nextDelay(random));
        probe.run();
        if (probe.isPending() && !late) {
          log.info(
              "provider "
                  + probe.name()
                  + " has not answered a health probe in time; its last answer counts until it"
                  + " does");
        }
        late = probe.isPending();
      }
    } catch (InterruptedException e) {
      // The monitor was closed; release callers that still wait for the first probes.
      firstProbes.countDown();
      markSlow(probe.name(), false);
    } finally {
      probe.stop();
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

  /** Records a status. No failure ends the probing of a provider. */
  private void record(ProviderStatus now) {
    try {
      change(now);
    } catch (RuntimeException | Error e) {
      log.warning("the result of a health probe could not be recorded: " + e);
    }
  }

  /**
   * Records a status. A provider that becomes unhealthy is logged as a warning. One that never was
   * healthy is not: most machines lack most backends, and {@code isola doctor} reports which and
   * why.
   */
  private void change(ProviderStatus now) {
    lock.lock();
    try {
      ProviderStatus before = statuses.put(now.name(), now);
      current = List.copyOf(statuses.values());
      changed.signalAll();
      switch (now.health()) {
        case Health.Unhealthy(String reason, String fix) -> {
          if (before != null && before.usable()) {
            warn(now.name(), "is unhealthy and will not be chosen", reason, fix);
          }
        }
        case Health.Degraded(String reason, String fix) -> {
          if (before != null && before.healthy()) {
            warn(
                now.name(),
                "is degraded and will be chosen only after all healthy providers",
                reason,
                fix);
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

  /** Stops probing and waits for pending probes to end, up to their timeout. */
  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
    Duration max = schedule.timeout().multipliedBy(3);
    try {
      for (Thread thread : threads) {
        boolean _ = thread.join(max);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
