package dev.isola.engine.pool;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.config.PoolConfig;
import dev.isola.engine.lifecycle.SandboxCreator;
import dev.isola.engine.lifecycle.SandboxDestroyer;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SandboxRequest;
import dev.isola.engine.lifecycle.SpecCodec;
import dev.isola.engine.lifecycle.WarmSandboxes;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.store.EntryFilter;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.PoolClaim;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * Maintains the warm pool. A request gets a pooled sandbox only if it would otherwise get an
 * identical one: the hash of the spec, the image digest and the chosen provider all match. The
 * ledger decides which request claims a sandbox, so that no two requests share one. A claimed
 * sandbox never returns to the pool. Each of several servers has a pool of its own, with its part
 * of the configured size.
 */
public final class WarmPool implements WarmSandboxes {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration REFILL_DELAY = Duration.ofMillis(10);
  private static final String NO_POOL = "no pool for this spec";
  private static final String OTHER_PROVIDER = "provider mismatch";
  private static final String EMPTY = "pool empty";

  /** The reasons for a miss that are counted. */
  public static final List<String> MISS_REASONS = List.of(NO_POOL, OTHER_PROVIDER, EMPTY);

  private final List<PoolConfig> config;
  private final SandboxCreator creator;
  private final Ledger ledger;
  private final SandboxRecorder recorder;
  private final SandboxDestroyer destroyer;
  private final Ownership ownership;
  private final InstantSource clock;
  private final Log log;
  private final ReentrantLock refillLock = new ReentrantLock();
  private final AtomicBoolean refillRequested = new AtomicBoolean();
  private volatile boolean closed;
  private final LongAdder hits = new LongAdder();
  private final Map<String, LongAdder> misses = new ConcurrentHashMap<>();

  public WarmPool(
      List<PoolConfig> config,
      SandboxCreator creator,
      Ledger ledger,
      SandboxRecorder recorder,
      SandboxDestroyer destroyer,
      Ownership ownership,
      InstantSource clock,
      Log log) {
    this.config = List.copyOf(config);
    this.creator = creator;
    this.ledger = ledger;
    this.recorder = recorder;
    this.destroyer = destroyer;
    this.ownership = ownership;
    this.clock = clock;
    this.log = log;
  }

  /** The number of hits, and of misses by reason. */
  public record Stats(long hits, Map<String, Long> misses) {}

  public Stats stats() {
    Map<String, Long> counts = new TreeMap<>();
    misses.forEach((why, count) -> counts.put(why, count.sum()));
    return new Stats(hits.sum(), counts);
  }

  /** Returns the configured number of warm sandboxes. */
  public int size() {
    return config.stream().mapToInt(PoolConfig::size).sum();
  }

  @Override
  public Optional<SandboxRecorder.IntentResult> claim(SandboxRequest request, Selection selection) {
    Optional<ProviderInfo> best = selection.best();
    if (!mayHave(request) || best.isEmpty()) {
      return Optional.empty();
    }
    if (!isConfigured(request)) {
      recordMiss(request, NO_POOL);
      return Optional.empty();
    }
    Optional<String> matching = hashAt(request.request(), best.get().name());
    if (matching.isEmpty()) {
      return Optional.empty();
    }
    String hash = matching.get();
    Failpoint.POOL_CLAIMING.reach();
    Optional<SandboxRecorder.IntentResult> claimed =
        recorder.claimPooled(
            new PoolClaim(
                hash,
                best.get().name(),
                request.tenant(),
                request.labels(),
                request.name(),
                request.request().lifecycle().ttl().map(clock.instant()::plus),
                request.request().lifecycle().idleTimeout(),
                ownership.server(),
                clock.instant()),
            request.idempotencyKey());
    if (claimed.isPresent()) {
      Failpoint.POOL_CLAIMED.reach();
      hits.increment();
      Thread.ofVirtual().name("isola-pool-refill").start(this::refillSoon);
    } else {
      boolean elsewhere =
          pooled(hash).stream().anyMatch(entry -> !entry.provider().equals(best.get().name()));
      recordMiss(request, elsewhere ? OTHER_PROVIDER : EMPTY);
    }
    return claimed;
  }

  @Override
  public boolean isReady(SandboxRequest request, Selection selection) {
    if (!mayHave(request) || !isConfigured(request)) {
      return false;
    }
    return selection
        .best()
        .map(ProviderInfo::name)
        .filter(
            provider ->
                hashAt(request.request(), provider).stream()
                    .flatMap(hash -> pooled(hash).stream())
                    .anyMatch(
                        one ->
                            one.state() == SandboxState.RUNNING && one.provider().equals(provider)))
        .isPresent();
  }

  /** No pooled sandbox has the secrets of a request. */
  private boolean mayHave(SandboxRequest request) {
    return !config.isEmpty() && !SpecDocument.hasSecrets(request.request());
  }

  private boolean isConfigured(SandboxRequest request) {
    String plain = SpecCodec.hash(request.request());
    return config.stream().anyMatch(one -> SpecCodec.hash(one.request()).equals(plain));
  }

  /**
   * Returns the hash of sandboxes that this provider would create now; empty if it cannot resolve
   * the image.
   */
  private Optional<String> hashAt(CreateRequest request, String provider) {
    try {
      return Optional.of(creator.poolHash(request, provider));
    } catch (SandboxException e) {
      log.warning(
          "the image of a warm pool cannot be resolved at provider "
              + provider
              + ": "
              + e.getMessage());
      return Optional.empty();
    }
  }

  /** Waits before refilling, to leave the CPU to the request that just claimed a sandbox. */
  private void refillSoon() {
    try {
      Thread.sleep(REFILL_DELAY);
      refill();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // not expected; the next periodic refill makes up for it
    }
  }

  private void recordMiss(SandboxRequest request, String why) {
    misses.computeIfAbsent(why, any -> new LongAdder()).increment();
    log.info("warm pool miss for sandbox " + request.request().spec().id() + ": " + why);
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
      Optional<String> hash = provider.flatMap(name -> hashAt(entry.request(), name));
      if (provider.isEmpty() || hash.isEmpty()) {
        return;
      }
      long have =
          pooled(hash.get()).stream().filter(one -> one.provider().equals(provider.get())).count();
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
    return creator.providerFor(order(entry));
  }

  /**
   * Destroys the sandboxes that no request can get any more: their spec is no longer configured,
   * another provider would be chosen, or the image has changed.
   */
  private void removeObsolete() {
    List<Predicate<SandboxEntry>> matching = config.stream().map(this::matching).toList();
    for (SandboxEntry entry : pooled()) {
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
    Optional<String> hash = provider.flatMap(name -> hashAt(poolConfig.request(), name));
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

  private List<SandboxEntry> pooled(String hash) {
    return pooled().stream().filter(entry -> entry.specHash().equals(hash)).toList();
  }

  private List<SandboxEntry> pooled() {
    EntryFilter filter =
        EntryFilter.ALL.pooled(true).states(SandboxState.CREATING, SandboxState.RUNNING);
    EntryFilter own = ownership.server().map(filter::owner).orElse(filter);
    return new ArrayList<>(ledger.sandboxes().list(own, "", SandboxEntries.MAX_LIMIT).entries());
  }
}
