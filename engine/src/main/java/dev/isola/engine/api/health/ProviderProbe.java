package dev.isola.engine.api.health;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.Health;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Probes one provider. Each probe runs on its own thread, so that a hanging provider delays the
 * caller by at most the timeout; while a probe is pending, no further one starts. A probe that is
 * slow proves nothing about the provider: until it is answered, the last answer counts, for a
 * while. Thread-safe: two callers probe one after the other.
 */
final class ProviderProbe {
  private final String name;
  private final Provider provider;
  private final ProbeSchedule schedule;
  private final InstantSource clock;
  private final Consumer<ProviderStatus> statuses;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Optional<ProviderStatus> lastAnswer = Optional.empty();
  private volatile Optional<ProviderInfo> lastInfo = Optional.empty();
  private volatile @Nullable Attempt pending;

  /**
   * @param statuses receives each answer of the provider, and what is known of it at each timeout
   */
  ProviderProbe(
      String name,
      Provider provider,
      ProbeSchedule schedule,
      InstantSource clock,
      Consumer<ProviderStatus> statuses) {
    this.name = name;
    this.provider = provider;
    this.schedule = schedule;
    this.clock = clock;
    this.statuses = statuses;
  }

  String name() {
    return name;
  }

  /** Returns whether the last probe timed out and is still pending. */
  boolean isPending() {
    return pending != null;
  }

  /** Waits until the pending probe ends, up to the given time. */
  void awaitPending(Duration max) throws InterruptedException {
    Attempt open = pending;
    if (open != null) {
      boolean _ = open.thread.join(max);
    }
  }

  /** Probes once, and waits for the answer up to the timeout. */
  void run() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      Attempt attempt = pending;
      if (attempt == null || !attempt.thread.isAlive()) {
        attempt = new Attempt();
        pending = attempt; // also if this thread is interrupted
        attempt.thread.start();
        if (attempt.thread.join(schedule.timeout())) {
          pending = null;
        }
      }
      attempt.report();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Stops a pending probe. It first gets the usual timeout to end by itself, because an interrupted
   * probe may leave resources behind, such as a sandbox that it created.
   */
  void stop() {
    Attempt open = pending;
    if (open != null) {
      try {
        if (!open.thread.join(schedule.timeout())) {
          open.thread.interrupt();
          boolean _ = open.thread.join(schedule.timeout()); // lets the probe clean up
        }
      } catch (InterruptedException e) {
        open.thread.interrupt();
        Thread.currentThread().interrupt();
      }
    }
  }

  /** One probe, whose answer counts whenever it comes. */
  private final class Attempt {
    private final Instant begin = clock.instant();
    private final Thread thread =
        Thread.ofVirtual().name("isola-health-" + name).unstarted(this::answer);
    private final ReentrantLock reporting = new ReentrantLock();
    private boolean answered;

    private void answer() {
      ProviderStatus status = check();
      lastInfo = status.info().or(() -> lastInfo);
      reporting.lock();
      try {
        answered = true;
        lastAnswer = Optional.of(status);
        statuses.accept(status);
      } finally {
        reporting.unlock();
      }
    }

    /** Reports what is known if there is no answer. */
    private void report() {
      reporting.lock();
      try {
        if (!answered) {
          statuses.accept(overdue());
        }
      } finally {
        reporting.unlock();
      }
    }

    private ProviderStatus overdue() {
      if (lastAnswer.isEmpty()) {
        return unhealthy(
            "its first health probe timed out after " + seconds(schedule.timeout()),
            "wait if the machine is busy; otherwise check whether its backend hangs");
      }
      ProviderStatus last = lastAnswer.get();
      if (clock.instant().isBefore(begin.plus(schedule.silence()))) {
        return last;
      }
      return unhealthy(
          "a health probe timed out after "
              + seconds(schedule.silence())
              + "; the last answer, at "
              + last.at()
              + ", was: "
              + text(last.health()),
          "check whether its backend hangs or the machine is overloaded");
    }
  }

  private static String text(Health health) {
    return switch (health) {
      case Health.Healthy(String detail) -> "healthy, " + detail;
      case Health.Degraded(String reason, String _) -> "degraded, " + reason;
      case Health.Unhealthy(String reason, String _) -> "unhealthy, " + reason;
    };
  }

  private ProviderStatus check() {
    try {
      ProviderInfo info = provider.info();
      if (!info.name().equals(name)) {
        return unhealthy(
            "it reports a different name: " + info.name(), "this is a bug in the provider");
      }
      Health health = provider.health();
      return new ProviderStatus(
          name, Optional.of(info), health, resources(health), clock.instant());
    } catch (SandboxException e) {
      return unhealthy(e.fault().problem(), e.fault().remedy());
    } catch (RuntimeException | Error e) {
      return unhealthy("its health check failed: " + e, "this is a bug in the provider");
    }
  }

  /** Returns the resources of the provider. Failing to report them does not affect its health. */
  private Optional<HostResources> resources(Health health) {
    try {
      return health.usable() ? provider.resources() : Optional.empty();
    } catch (SandboxException e) {
      return Optional.empty();
    }
  }

  private ProviderStatus unhealthy(String reason, String fix) {
    return new ProviderStatus(name, lastInfo, new Health.Unhealthy(reason, fix), clock.instant());
  }

  private static String seconds(Duration time) {
    double seconds = time.toMillis() / 1000.0;
    return (seconds == Math.rint(seconds)
            ? String.valueOf((long) seconds)
            : String.valueOf(seconds))
        + " s";
  }
}
