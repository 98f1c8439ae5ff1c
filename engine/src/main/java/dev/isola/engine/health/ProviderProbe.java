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
import org.jspecify.annotations.Nullable;

/**
 * Asks one provider. The question is put on a thread of its own, so that one that hangs costs the
 * asker its patience and no more; while it hangs no further question is put. One thread uses this.
 */
final class ProviderProbe {
  private final String name;
  private final Provider provider;
  private final Duration timeout;
  private final InstantSource clock;
  private Optional<ProviderInfo> lastInfo = Optional.empty();
  private @Nullable Thread pending;

  ProviderProbe(String name, Provider provider, Duration patience, InstantSource clock) {
    this.name = name;
    this.provider = provider;
    this.timeout = patience;
    this.clock = clock;
  }

  String name() {
    return name;
  }

  /** Tells whether the last question was not answered in time. */
  boolean isPending() {
    return pending != null;
  }

  /** Waits until the open question is answered, or that long. */
  void awaitPending(Duration most) throws InterruptedException {
    Thread open = pending;
    if (open != null) {
      boolean _ = open.join(most);
    }
  }

  ProviderStatus probe() throws InterruptedException {
    Thread before = pending;
    if (before != null && before.isAlive()) {
      return timedOut();
    }
    // A late answer is thrown away: it tells how things were when the question was put.
    pending = null;
    AtomicReference<@Nullable ProviderStatus> answer = new AtomicReference<>();
    Thread question =
        Thread.ofVirtual().name("isola-health-" + name).start(() -> answer.set(check()));
    try {
      if (!question.join(timeout)) {
        pending = question;
        return timedOut();
      }
    } catch (InterruptedException e) {
      pending = question;
      throw e;
    }
    ProviderStatus said = answer.get();
    if (said == null) {
      return unhealthy("its health check died", "see the log");
    }
    lastInfo = said.info().or(() -> lastInfo);
    return said;
  }

  /**
   * Ends a question that is still open. It has the usual time to end by itself: what a provider
   * made to try itself, such as a sandbox, would be left behind otherwise.
   */
  void stop() {
    Thread open = pending;
    if (open != null) {
      try {
        if (!open.join(timeout)) {
          open.interrupt();
          boolean _ = open.join(timeout); // it may have to clean up
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
        return unhealthy("it calls itself " + info.name(), "this is a bug of the provider");
      }
      Health health = provider.health();
      return new ProviderStatus(
          name, Optional.of(info), health, resources(health), clock.instant());
    } catch (SandboxException e) {
      return unhealthy(e.fault().problem(), e.fault().remedy());
    } catch (RuntimeException | Error e) {
      return unhealthy("its health check failed: " + e, "this is a bug of the provider");
    }
  }

  /** A provider that fails to tell what its machine has is no less healthy. */
  private Optional<HostResources> resources(Health health) {
    try {
      return health.usable() ? provider.resources() : Optional.empty();
    } catch (SandboxException e) {
      return Optional.empty();
    }
  }

  private ProviderStatus timedOut() {
    return unhealthy(
        "did not answer in " + seconds(timeout) + " s", "see whether its backend hangs");
  }

  private ProviderStatus unhealthy(String reason, String fix) {
    return new ProviderStatus(name, lastInfo, new Health.Unhealthy(reason, fix), clock.instant());
  }

  private static String seconds(Duration time) {
    double seconds = time.toMillis() / 1000.0;
    return seconds == Math.rint(seconds) ? String.valueOf((long) seconds) : String.valueOf(seconds);
  }
}
