package dev.isola.engine.pool;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Log;
import dev.isola.engine.config.PoolEntry;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Creator;
import dev.isola.engine.lifecycle.Ender;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.lifecycle.Warm;
import dev.isola.engine.selection.Selection;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.PoolClaim;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SandboxFilter;
import dev.isola.store.Sandboxes;
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
 * Keeps sandboxes ready. One is handed out only where the order would get the very same: the hash
 * of its spec, the image that the spec names and the provider that would be chosen now all match.
 * Who gets it is decided by the ledger, so nobody ever shares one; and one that was handed out
 * never comes back.
 */
public final class WarmPool implements Warm {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Duration BREATH = Duration.ofMillis(10);
  private static final String NO_POOL = "no pool for this spec";
  private static final String OTHER_PROVIDER = "provider mismatch";
  private static final String EMPTY = "pool empty";

  /** Why somebody may find no warm one; nothing else is counted. */
  public static final List<String> REASONS = List.of(NO_POOL, OTHER_PROVIDER, EMPTY);

  private final List<PoolEntry> wanted;
  private final Creator creator;
  private final Ledger ledger;
  private final Book book;
  private final Ender ender;
  private final InstantSource clock;
  private final Log log;
  private final ReentrantLock filling = new ReentrantLock();
  private final AtomicBoolean again = new AtomicBoolean();
  private volatile boolean closed;
  private final LongAdder hits = new LongAdder();
  private final Map<String, LongAdder> misses = new ConcurrentHashMap<>();

  public WarmPool(
      List<PoolEntry> wanted,
      Creator creator,
      Ledger ledger,
      Book book,
      Ender ender,
      InstantSource clock,
      Log log) {
    this.wanted = List.copyOf(wanted);
    this.creator = creator;
    this.ledger = ledger;
    this.book = book;
    this.ender = ender;
    this.clock = clock;
    this.log = log;
  }

  /** How often somebody found a warm one, and why somebody did not. */
  public record Tally(long hits, Map<String, Long> misses) {}

  public Tally tally() {
    Map<String, Long> counts = new TreeMap<>();
    misses.forEach((why, count) -> counts.put(why, count.sum()));
    return new Tally(hits.sum(), counts);
  }

  /** Returns how many are to be ready. */
  public int size() {
    return wanted.stream().mapToInt(PoolEntry::size).sum();
  }

  @Override
  public Optional<Book.Opened> claim(Order order, Selection selection) {
    Optional<ProviderInfo> best = selection.best();
    boolean secret = !order.request().spec().secretEnv().isEmpty(); // which no other one has
    if (wanted.isEmpty() || best.isEmpty() || secret) {
      return Optional.empty();
    }
    Optional<String> matching = poolHash(order, best.get().name());
    if (matching.isEmpty()) {
      return Optional.empty();
    }
    String hash = matching.get();
    Failpoint.POOL_CLAIMING.reach();
    Optional<Book.Opened> claimed =
        book.claim(
            new PoolClaim(
                hash,
                best.get().name(),
                order.tenant(),
                order.labels(),
                order.request().lifecycle().ttl().map(clock.instant()::plus),
                order.request().lifecycle().idleTimeout(),
                clock.instant()),
            order.boundKey());
    if (claimed.isPresent()) {
      Failpoint.POOL_CLAIMED.reach();
      hits.increment();
      Thread.ofVirtual().name("isola-pool-refill").start(this::refillSoon);
    } else {
      boolean elsewhere =
          pooled(hash).stream().anyMatch(entry -> !entry.provider().equals(best.get().name()));
      miss(order, elsewhere ? OTHER_PROVIDER : EMPTY);
    }
    return claimed;
  }

  /** Returns the hash of pooled sandboxes that match; empty when no pool or provider has them. */
  private Optional<String> poolHash(Order order, String provider) {
    String plain = SpecText.hash(order.request());
    if (wanted.stream().noneMatch(one -> SpecText.hash(one.request()).equals(plain))) {
      miss(order, NO_POOL);
      return Optional.empty();
    }
    return hashAt(order.request(), provider);
  }

  /** Returns the hash of sandboxes that this provider would make now; empty when it cannot tell. */
  private Optional<String> hashAt(CreateRequest request, String provider) {
    try {
      return Optional.of(creator.poolHash(request, provider));
    } catch (SandboxException e) {
      log.warning("the image of a pool is not known at " + provider + ": " + e.getMessage());
      return Optional.empty();
    }
  }

  /** Making one takes processors, which whoever was just handed one wants to use first. */
  private void refillSoon() {
    try {
      Thread.sleep(BREATH);
      refill();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody does; the next round fills it
    }
  }

  private void miss(Order order, String why) {
    misses.computeIfAbsent(why, any -> new LongAdder()).increment();
    log.info("warm pool miss for sandbox " + order.request().spec().id() + ": " + why);
  }

  /**
   * Makes what is missing, and removes what is not wanted any more. One at a time does it; whoever
   * comes meanwhile leaves word, and it is looked at once more.
   */
  public void refill() {
    again.set(true);
    while (!closed && again.get() && filling.tryLock()) {
      try {
        again.set(false);
        drain();
        wanted.forEach(this::fill);
      } catch (RuntimeException e) {
        log.warning("the warm pool cannot be looked at: " + e.getMessage());
      } finally {
        filling.unlock();
      }
    }
  }

  /** Makes no more, and returns when nothing is being made. */
  public void close() {
    closed = true;
    filling.lock();
    try {
      log.info("the warm pool makes no more sandboxes");
    } finally {
      filling.unlock();
    }
  }

  /** Makes what is missing of an entry, at the provider that a request would get now. */
  private void fill(PoolEntry entry) {
    try {
      Optional<String> provider = providerFor(entry);
      Optional<String> hash = provider.flatMap(name -> hashAt(entry.request(), name));
      if (provider.isEmpty() || hash.isEmpty()) {
        return;
      }
      long have =
          pooled(hash.get()).stream().filter(one -> one.provider().equals(provider.get())).count();
      for (; have < entry.size() && !closed; have++) {
        Failpoint.POOL_MAKING.reach();
        creator.createPooled(order(entry));
        Failpoint.POOL_MADE.reach();
      }
    } catch (RuntimeException e) {
      log.warning("the warm pool cannot be filled: " + e.getMessage());
    }
  }

  private static Order order(PoolEntry entry) {
    CreateRequest request = entry.request();
    return Order.of(request.with(request.spec().withId(SandboxId.random(RANDOM))))
        .withLabels(Map.of());
  }

  /** Returns who would make a sandbox of an entry now; empty when no provider may. */
  private Optional<String> providerFor(PoolEntry entry) {
    return creator.providerFor(order(entry));
  }

  /**
   * Ends the sandboxes that no request gets any more: their spec is not configured now, another
   * provider would be chosen for it, or its image is another one now.
   */
  private void drain() {
    List<Predicate<SandboxEntry>> matching = wanted.stream().map(this::matching).toList();
    for (SandboxEntry entry : pooled()) {
      if (entry.state() == SandboxState.RUNNING
          && matching.stream().noneMatch(one -> one.test(entry))) {
        try {
          Failpoint.POOL_UNWANTED.reach();
          // Somebody may have been given it since.
          ender.endIf(
              entry.id(),
              SandboxEntry::pooled,
              Destroy.FORCE,
              "the warm pool does not want it any more");
        } catch (RuntimeException e) {
          log.warning("sandbox " + entry.id() + " stays in the pool: " + e.getMessage());
        }
      }
    }
  }

  /** Returns which pooled sandboxes an entry of the configuration would be satisfied with now. */
  private Predicate<SandboxEntry> matching(PoolEntry wish) {
    Optional<String> provider = providerFor(wish);
    Optional<String> hash = provider.flatMap(name -> hashAt(wish.request(), name));
    if (hash.isEmpty()) { // those that are ready stay while no provider may or can tell
      String plain = SpecText.hash(wish.request());
      return entry -> plainHash(entry).equals(Optional.of(plain));
    }
    return entry ->
        entry.specHash().equals(hash.get()) && provider.equals(Optional.of(entry.provider()));
  }

  /** Returns the hash of a stored spec; empty when it cannot be read. */
  private static Optional<String> plainHash(SandboxEntry entry) {
    try {
      return Optional.of(SpecText.hash(SpecText.read(entry.spec(), entry.id())));
    } catch (SandboxException unreadable) {
      return Optional.empty();
    }
  }

  private List<SandboxEntry> pooled(String hash) {
    return pooled().stream().filter(entry -> entry.specHash().equals(hash)).toList();
  }

  private List<SandboxEntry> pooled() {
    SandboxFilter filter =
        SandboxFilter.ALL.pooled(true).states(SandboxState.CREATING, SandboxState.RUNNING);
    return new ArrayList<>(ledger.sandboxes().list(filter, "", Sandboxes.MAX_LIMIT).entries());
  }
}
