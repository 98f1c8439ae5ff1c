package dev.isola.engine.api.pool;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.PoolStats;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.config.PoolConfig;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.sandbox.ProviderCandidates;
import dev.isola.engine.sandbox.WarmSandboxes;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Keeps the warm pool at its configured size: creates the sandboxes that {@link WarmSandboxes}
 * hands out, and removes those that no request can get any more. Each of several servers has a pool
 * of its own, with its part of the configured size.
 */
public final class WarmPool {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration REFILL_DELAY = Duration.ofMillis(10);

  private final List<PoolConfig> config;
  private final ProviderCandidates candidates;
  private final SandboxCreator creator;
  private final WarmSandboxes warm;
  private final SandboxDestroyer destroyer;
  private final Ownership ownership;
  private final Log log;
  private final ReentrantLock refillLock = new ReentrantLock();
  private final AtomicBoolean refillRequested = new AtomicBoolean();
  private volatile boolean closed;

  public WarmPool(
      List<PoolConfig> config,
      ProviderCandidates candidates,
      SandboxCreator creator,
      WarmSandboxes warm,
      SandboxDestroyer destroyer,
      Ownership ownership,
      Log log) {
    this.config = List.copyOf(config);
    this.candidates = candidates;
    this.creator = creator;
    this.warm = warm;
    this.destroyer = destroyer;
    this.ownership = ownership;
    this.log = log;
  }

  /** Returns the configured number of warm sandboxes. */
  public int size() {
    return config.stream().mapToInt(PoolConfig::size).sum();
  }

  /** Returns the number of requests that got a warm sandbox, and of those that did not. */
  public PoolStats stats() {
    return warm.stats();
  }

  /** Starts to replace the sandboxes that requests claim. */
  public void start() {
    Thread.ofVirtual().name("isola-pool-refill").start(this::replaceClaimed);
  }

  /** Waits before refilling, to leave the CPU to the request that just claimed a sandbox. */
  private void replaceClaimed() {
    try {
      while (!closed) {
        warm.awaitClaim();
        Thread.sleep(REFILL_DELAY);
        refill();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // not expected; the next periodic refill makes up for it
    }
  }

  /**
   * Creates missing sandboxes and removes obsolete ones. One thread at a time does this; a
   * concurrent call makes that thread repeat it.
   */
  public void refill() {
    refillRequested.set(true);
    while (!closed && refillRequested.get() && refillLock.tryLock()) {
      try {
        refillRequested.set(false);
        removeObsolete();
        config.forEach(this::fill);
      } catch (RuntimeException e) {
        log.warning("the warm pool could not be refilled: " + e.getMessage());
      } finally {
        refillLock.unlock();
      }
    }
  }

  /** Stops refilling and returns when no sandbox is being created. */
  public void close() {
    closed = true;
    warm.stopWaiting();
    refillLock.lock();
    try {
      log.info("the warm pool is closed");
    } finally {
      refillLock.unlock();
    }
  }

  /**
   * Creates the missing sandboxes of one configuration, at the provider that a request would get
   * now.
   */
  private void fill(PoolConfig entry) {
    try {
      Optional<String> provider = providerFor(entry);
      Optional<String> hash = provider.flatMap(name -> warm.hashAt(entry.request(), name));
      if (provider.isEmpty() || hash.isEmpty()) {
        return;
      }
      long have =
          warm.pooled(hash.get()).stream()
              .filter(one -> one.provider().equals(provider.get()))
              .count();
      int wanted = ownership.shareOf(entry.size());
      for (; have < wanted && !closed; have++) {
        Failpoint.POOL_MAKING.reach();
        creator.createPooled(order(entry));
        Failpoint.POOL_MADE.reach();
      }
    } catch (RuntimeException e) {
      log.warning("a warm pool entry could not be filled: " + e.getMessage());
    }
  }

  private static SandboxRequest order(PoolConfig entry) {
    CreateRequest request = entry.request();
    return SandboxRequest.of(request.with(request.spec().withId(SandboxId.random(RANDOM))))
        .withLabels(Map.of());
  }

  /** Returns the provider that would be chosen now; empty if none is eligible. */
  private Optional<String> providerFor(PoolConfig entry) {
    return candidates.best(order(entry).request());
  }

  /**
   * Destroys the sandboxes that no request can get any more: their spec is no longer configured,
   * another provider would be chosen, or the image has changed.
   */
  private void removeObsolete() {
    List<Predicate<SandboxEntry>> matching = config.stream().map(this::matching).toList();
    for (SandboxEntry entry : warm.pooled()) {
      if (entry.state() == SandboxState.RUNNING
          && matching.stream().noneMatch(one -> one.test(entry))) {
        try {
          Failpoint.POOL_UNWANTED.reach();
          // A request may have claimed it meanwhile.
          destroyer.destroyIf(
              entry.id(),
              SandboxEntry::pooled,
              DestroyOptions.FORCE,
              "it no longer matches the warm pool");
        } catch (RuntimeException e) {
          log.warning(
              "sandbox "
                  + entry.id()
                  + " could not be removed from the warm pool: "
                  + e.getMessage());
        }
      }
    }
  }

  /** Returns a predicate for the pooled sandboxes that match a configuration now. */
  private Predicate<SandboxEntry> matching(PoolConfig poolConfig) {
    Optional<String> provider = providerFor(poolConfig);
    Optional<String> hash = provider.flatMap(name -> warm.hashAt(poolConfig.request(), name));
    if (hash.isEmpty()) {
      // Keeps existing sandboxes while no provider is eligible or can resolve the image.
      String plain = SpecCodec.hash(poolConfig.request());
      return entry -> plainHash(entry).equals(Optional.of(plain));
    }
    return entry ->
        entry.specHash().equals(hash.get()) && provider.equals(Optional.of(entry.provider()));
  }

  /** Returns the hash of a stored spec; empty if it is unreadable. */
  private static Optional<String> plainHash(SandboxEntry entry) {
    try {
      return Optional.of(SpecCodec.hash(SpecCodec.decode(entry.spec(), entry.id())));
    } catch (SandboxException unreadable) {
      return Optional.empty();
    }
  }
}
