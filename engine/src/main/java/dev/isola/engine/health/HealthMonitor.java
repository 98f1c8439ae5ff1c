package dev.isola.engine.health;

import dev.isola.engine.Log;
import dev.isola.engine.Standing;
import dev.isola.spi.Health;
import dev.isola.spi.Provider;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * Knows how every provider stands. Each is asked again and again on a thread of its own; what it
 * said last is kept, so that {@link #current()} costs nothing and never waits for a backend.
 */
public final class HealthMonitor implements AutoCloseable {
  private final Rhythm rhythm;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final Pause pause;
  private final Log log;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Standing> standings = new TreeMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final CountDownLatch first;
  private volatile List<Standing> current;

  /**
   * @param absent those that cannot be asked: broken or turned off; they stand as they are
   */
  private HealthMonitor(
      int providers,
      List<Standing> absent,
      Rhythm rhythm,
      InstantSource clock,
      RandomGenerator random,
      Pause pause,
      Log log) {
    this.rhythm = rhythm;
    this.clock = clock;
    this.random = random;
    this.pause = pause;
    this.log = log;
    this.first = new CountDownLatch(providers);
    absent.forEach(one -> standings.put(one.name(), one));
    this.current = List.copyOf(standings.values());
  }

  /** Starts to ask, and returns at once. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<Standing> absent,
      Rhythm rhythm,
      InstantSource clock,
      RandomGenerator random,
      Pause pause,
      Log log) {
    HealthMonitor monitor =
        new HealthMonitor(providers.size(), absent, rhythm, clock, random, pause, log);
    providers.forEach(monitor::watch);
    return monitor;
  }

  /** Starts to ask in real time. */
  public static HealthMonitor start(
      Map<String, Provider> providers,
      List<Standing> absent,
      Rhythm rhythm,
      InstantSource clock,
      Log log) {
    return start(providers, absent, rhythm, clock, RandomGenerator.getDefault(), Pause.REAL, log);
  }

  /** Returns how providers stood when they were last asked, by name. Does not wait. */
  public List<Standing> current() {
    return current;
  }

  /**
   * Returns {@link #current()} as soon as every provider has been asked once. Takes no longer than
   * the patience with one of them.
   */
  public List<Standing> settled() {
    try {
      first.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "interrupted while providers were asked", "ask again")
          .exception(e);
    }
    return current;
  }

  private void watch(String name, Provider provider) {
    Watch watch = new Watch(name, provider, rhythm.patience(), clock);
    threads.add(Thread.ofVirtual().name("isola-health-watch-" + name).start(() -> watch(watch)));
  }

  private void watch(Watch watch) {
    try {
      ask(watch);
      first.countDown();
      while (true) {
        pause.last(rhythm.next(random));
        ask(watch);
      }
    } catch (InterruptedException e) {
      // Closed; whoever still waits for the first answers must not wait for ever.
      first.countDown();
    } finally {
      watch.end();
    }
  }

  /** Nothing that goes wrong ends the watch over a provider. */
  private void ask(Watch watch) throws InterruptedException {
    try {
      record(watch.ask());
    } catch (RuntimeException | Error e) {
      log.warning("the health of a provider could not be recorded: " + e);
    }
  }

  private void record(Standing now) {
    lock.lock();
    try {
      Standing before = standings.put(now.name(), now);
      current = List.copyOf(standings.values());
      boolean wasIll = before != null && !before.healthy();
      switch (now.health()) {
        case Health.Unhealthy(String reason, String fix) -> {
          if (before == null || before.usable()) {
            warn(now.name(), "is unhealthy and not chosen any more", reason, fix);
          }
        }
        case Health.Degraded(String reason, String fix) -> {
          if (before == null || !(before.health() instanceof Health.Degraded)) {
            warn(now.name(), "is degraded and chosen after all healthy ones", reason, fix);
          }
        }
        case Health.Healthy _ -> {
          if (wasIll) {
            log.info("provider " + now.name() + " is healthy again");
          }
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
    Duration most = rhythm.patience().multipliedBy(3);
    try {
      for (Thread thread : threads) {
        boolean _ = thread.join(most);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
