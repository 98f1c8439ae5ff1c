package dev.isola.engine.sandbox;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.PoolStats;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.PoolConfig;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SandboxRecorder.IdempotencyKey;
import dev.isola.engine.lifecycle.SandboxRecorder.IntentResult;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.PoolClaim;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/**
 * Claims sandboxes of the warm pool. A request gets a pooled sandbox only if it would otherwise get
 * an identical one: the hash of the spec, the image digest and the chosen provider all match. The
 * ledger decides which request claims a sandbox, so that no two requests share one. A claimed
 * sandbox never returns to the pool.
 */
public final class WarmSandboxes {
  private final List<PoolConfig> config;
  private final ProviderRegistry registry;
  private final Ledger ledger;
  private final SandboxRecorder recorder;
  private final Ownership ownership;
  private final InstantSource clock;
  private final Log log;
  private final Semaphore claims = new Semaphore(0);
  private final LongAdder hits = new LongAdder();
  private final Map<String, LongAdder> misses = new ConcurrentHashMap<>();

  public WarmSandboxes(
      List<PoolConfig> config,
      ProviderRegistry registry,
      Ledger ledger,
      SandboxRecorder recorder,
      Ownership ownership,
      InstantSource clock,
      Log log) {
    this.config = List.copyOf(config);
    this.registry = registry;
    this.ledger = ledger;
    this.recorder = recorder;
    this.ownership = ownership;
    this.clock = clock;
    this.log = log;
  }

  /** Returns the number of hits, and of misses by reason. */
  public PoolStats stats() {
    Map<String, Long> counts = new TreeMap<>();
    misses.forEach((why, count) -> counts.put(why, count.sum()));
    return new PoolStats(hits.sum(), counts);
  }

  /** Claims a sandbox that matches the request exclusively; empty if there is none. */
  public Optional<IntentResult> claim(SandboxRequest request, Selection selection) {
    Optional<String> best = selection.best().map(ProviderInfo::name);
    if (!mayHave(request) || best.isEmpty()) {
      return Optional.empty();
    }
    if (!isConfigured(request)) {
      recordMiss(request, PoolStats.NO_POOL);
      return Optional.empty();
    }
    Optional<String> matching = hashAt(request.request(), best.get());
    if (matching.isEmpty()) {
      return Optional.empty();
    }
    String hash = matching.get();
    Failpoint.POOL_CLAIMING.reach();
    Optional<IntentResult> claimed =
        recorder.claimPooled(
            new PoolClaim(
                hash,
                best.get(),
                request.tenant(),
                request.labels(),
                request.name(),
                request.request().lifecycle().ttl().map(clock.instant()::plus),
                request.request().lifecycle().idleTimeout(),
                ownership.server(),
                clock.instant()),
            IdempotencyKey.of(request));
    if (claimed.isPresent()) {
      Failpoint.POOL_CLAIMED.reach();
      hits.increment();
      claims.release();
    } else {
      boolean elsewhere =
          pooled(hash).stream().anyMatch(entry -> !entry.provider().equals(best.get()));
      recordMiss(request, elsewhere ? PoolStats.OTHER_PROVIDER : PoolStats.EMPTY);
    }
    return claimed;
  }

  /** Waits until a sandbox was claimed since the last call, or {@link #stopWaiting} is called. */
  public void awaitClaim() {
    claims.acquireUninterruptibly();
    int _ = claims.drainPermits();
  }

  /** Ends {@link #awaitClaim}. */
  public void stopWaiting() {
    claims.release();
  }

  /** Returns whether {@link #claim} would find a sandbox now. */
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
   * Returns the hash of the sandboxes that a provider would create for a request now. It covers the
   * digest of the image, because an image name can point to a different image later.
   */
  public String hash(CreateRequest request, String provider) {
    SandboxSpec spec = request.spec();
    return SpecCodec.hash(
        request,
        spec.image().isEmpty() ? Optional.empty() : registry.get(provider).imageDigest(spec));
  }

  /** Returns {@link #hash}; empty if the provider cannot resolve the image. */
  public Optional<String> hashAt(CreateRequest request, String provider) {
    try {
      return Optional.of(hash(request, provider));
    } catch (SandboxException e) {
      log.warning(
          "the image of a warm pool cannot be resolved at provider "
              + provider
              + ": "
              + e.getMessage());
      return Optional.empty();
    }
  }

  private void recordMiss(SandboxRequest request, String why) {
    misses.computeIfAbsent(why, any -> new LongAdder()).increment();
    log.info("warm pool miss for sandbox " + request.request().spec().id() + ": " + why);
  }

  /** Returns the unclaimed sandboxes of this server with a hash. */
  public List<SandboxEntry> pooled(String hash) {
    return pooled().stream().filter(entry -> entry.specHash().equals(hash)).toList();
  }

  /** Returns the unclaimed sandboxes of this server. */
  public List<SandboxEntry> pooled() {
    EntryFilter filter =
        EntryFilter.ALL.pooled(true).states(SandboxState.CREATING, SandboxState.RUNNING);
    EntryFilter own = ownership.server().map(filter::owner).orElse(filter);
    return ledger.sandboxes().list(own, "", SandboxEntries.MAX_LIMIT).entries();
  }
}
