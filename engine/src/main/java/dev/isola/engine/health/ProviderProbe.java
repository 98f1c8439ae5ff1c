package dev.isola.engine.health;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.Health;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Probes one provider. Each probe runs on its own thread, so that a hanging provider delays the
 * caller by at most the timeout; while a probe is pending, no further one starts. Thread-safe: two
 * callers probe one after the other.
 */
final class ProviderProbe {
  private final String name;
  private final Provider provider;
  private final Duration timeout;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Optional<ProviderInfo> lastInfo = Optional.empty();
  private volatile @Nullable Thread pending;

  ProviderProbe(String name, Provider provider, Duration timeout, InstantSource clock) {
    this.name = name;
    this.provider = provider;
    this.timeout = timeout;
    this.clock = clock;
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
    Thread open = pending;
    if (open != null) {
      boolean _ = open.join(max);
    }
  }

  ProviderStatus run() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      return probe();
    } finally {
      lock.unlock();
    }
  }

  private ProviderStatus probe() throws InterruptedException {
    Thread before = pending;
    if (before != null && before.isAlive()) {
      return timedOut();
    }
    // A late result is discarded, because it describes the state at the start of the probe.
    pending = null;
    AtomicReference<@Nullable ProviderStatus> result = new AtomicReference<>();
    Thread thread =
        Thread.ofVirtual().name("isola-health-" + name).start(() -> result.set(check()));
    try {
      if (!thread.join(timeout)) {
        pending = thread;
        return timedOut();
      }
    } catch (InterruptedException e) {
      pending = thread;
      throw e;
    }
    ProviderStatus status = result.get();
    if (status == null) {
      return unhealthy("its health check ended without a result", "see the log");
    }
    lastInfo = status.info().or(() -> lastInfo);
    return status;
  }

  /**
   * Stops a pending probe. It first gets the usual timeout to end by itself, because an interrupted
   * probe may leave resources behind, such as a sandbox that it created.
   */
  void stop() {
    Thread open = pending;
    if (open != null) {
      try {
        if (!open.join(timeout)) {
          open.interrupt();
          boolean _ = open.join(timeout); // lets the probe clean up
        }
      } catch (InterruptedException e) {
        open.interrupt();
        Thread.currentThread().interrupt();
      }
    }
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

  private ProviderStatus timedOut() {
    return unhealthy(
        "did not answer within " + seconds(timeout) + " s", "check whether its backend hangs");
  }

  private ProviderStatus unhealthy(String reason, String fix) {
    return new ProviderStatus(name, lastInfo, new Health.Unhealthy(reason, fix), clock.instant());
  }

  private static String seconds(Duration time) {
    double seconds = time.toMillis() / 1000.0;
    return seconds == Math.rint(seconds) ? String.valueOf((long) seconds) : String.valueOf(seconds);
  }
}
