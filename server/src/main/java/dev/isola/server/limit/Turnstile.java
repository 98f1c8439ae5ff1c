package dev.isola.server.limit;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Lets callers in as {@link Limits} say. Whoever is refused is told when to come back. */
public final class Turnstile {
  /** Where a refusal says in how many seconds to come back. */
  public static final String RETRY_AFTER = "retryAfterSeconds";

  private static final double MINUTE = 60;

  private final Limits limits;
  private final Buckets keys;
  private final Buckets failures;
  private final AtomicLong inside = new AtomicLong();
  private final Map<String, AtomicLong> streams = new ConcurrentHashMap<>();
  private final PreviewPool previews;

  /** A place inside; closing it makes room. */
  public interface Place extends AutoCloseable {
    @Override
    void close();
  }

  public Turnstile(Limits limits, LongSupplier nanoTime) {
    this.limits = limits;
    keys = new Buckets(limits.perSecond(), limits.burst(), nanoTime);
    failures = new Buckets(limits.failures() / MINUTE, limits.failures(), nanoTime);
    previews = new PreviewPool(limits.previews(), limits.previewsPerSandbox());
  }

  /** Takes a place among those who are worked for. */
  public Place enter() {
    return place(inside, limits.requests(), "this server works on as many requests as it may");
  }

  /** Takes a place among the streams of a key. */
  public Place stream(String key) {
    return place(
        streams.computeIfAbsent(key, any -> new AtomicLong()),
        limits.streams(),
        "the key " + key + " has as many streams open as it may");
  }

  /**
   * Takes a place among the requests to ports of sandboxes, which have a pool of their own.
   *
   * @param known whether the request showed a key or token that is good for the port
   */
  public Place preview(String sandbox, boolean known) {
    return previews.enter(sandbox, known);
  }

  private static Place place(AtomicLong taken, long most, String what) {
    if (taken.incrementAndGet() > most && most > 0) {
      taken.decrementAndGet();
      throw refused(what + ": " + most, "end some of them, or try again in a moment", 1);
    }
    return taken::decrementAndGet;
  }

  /** Counts a request of a key. */
  public void request(String key) {
    if (limits.perSecond() > 0) {
      double wait = keys.take(key);
      if (wait > 0) {
        throw refused(
            "the key " + key + " sends more than " + limits.perSecond() + " requests a second",
            "wait as long as Retry-After says",
            wait);
      }
    }
  }

  /**
   * Refuses an address from which too many wrong keys came, before its next one is looked at: who
   * guesses learns nothing.
   */
  public void address(String address) {
    if (limits.failures() > 0) {
      double wait = failures.look(address);
      if (wait > 0) {
        throw refused(
            "too many wrong keys came from this address",
            "wait as long as Retry-After says, then use a key of this server",
            wait);
      }
    }
  }

  /** Tells whether {@link #address} refuses this address now. */
  public boolean isBlocked(String address) {
    return limits.failures() > 0 && failures.look(address) > 0;
  }

  /** Counts a wrong key. */
  public void failed(String address) {
    if (limits.failures() > 0) {
      failures.take(address);
    }
  }

  static SandboxException refused(String what, String remedy, double wait) {
    return Fault.of(ErrorCode.RATE_LIMITED, what, remedy)
        .with(RETRY_AFTER, Long.toString((long) Math.ceil(wait)))
        .exception();
  }
}
