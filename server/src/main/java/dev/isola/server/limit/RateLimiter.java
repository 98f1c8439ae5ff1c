package dev.isola.server.limit;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Enforces {@link RequestLimits}. The error of a rejected request states when to retry. */
public final class RateLimiter {
  /** Context key of an error that holds the seconds after which to retry. */
  public static final String RETRY_AFTER = "retryAfterSeconds";

  private static final double MINUTE = 60;

  /** Failed authentications of all clients in the audit log. */
  private static final double AUDITED_PER_SECOND = 1;

  private static final double AUDITED_AT_ONCE = 600;

  private final RequestLimits limits;
  private final TokenBuckets keys;
  private final TokenBuckets failures;
  private final TokenBuckets audited;
  private final AtomicLong activeRequests = new AtomicLong();
  private final Map<String, Long> streams = new ConcurrentHashMap<>();
  private final PreviewLimiter previews;

  /** A permit to use a limited resource; closing it releases the permit. */
  public interface Permit extends AutoCloseable {
    @Override
    void close();
  }

  public RateLimiter(RequestLimits limits, LongSupplier nanoTime) {
    this.limits = limits;
    keys = new TokenBuckets(limits.perSecond(), limits.burst(), nanoTime);
    failures = new TokenBuckets(limits.failures() / MINUTE, limits.failures(), nanoTime);
    audited = new TokenBuckets(AUDITED_PER_SECOND, AUDITED_AT_ONCE, nanoTime);
    previews = new PreviewLimiter(limits.previews(), limits.previewsPerSandbox());
  }

  /** Acquires a permit for a request. */
  public Permit acquireRequest() {
    return acquire(
        activeRequests,
        limits.requests(),
        "the server has reached its limit of concurrent requests");
  }

  /** Acquires a permit for a stream of a key, or of the token of a sandbox. */
  public Permit acquireStream(String key) {
    long open = streams.merge(key, 1L, Long::sum);
    Permit permit =
        () -> streams.computeIfPresent(key, (any, count) -> count == 1 ? null : count - 1);
    if (open > limits.streams() && limits.streams() > 0) {
      permit.close();
      throw tooMany("the key " + key + " has reached its limit of open streams", limits.streams());
    }
    return permit;
  }

  /**
   * Acquires a permit for a request to a port of a sandbox. These have limits of their own.
   *
   * @param authenticated whether the request has a valid key or token for the port
   */
  public Permit acquirePreview(String sandbox, boolean authenticated) {
    return previews.acquire(sandbox, authenticated);
  }

  private static Permit acquire(AtomicLong count, long limit, String what) {
    if (count.incrementAndGet() > limit && limit > 0) {
      count.decrementAndGet();
      throw tooMany(what, limit);
    }
    return count::decrementAndGet;
  }

  private static SandboxException tooMany(String what, long limit) {
    return rateLimited(what + ": " + limit, "end some of them, or try again in a moment", 1);
  }

  /** Counts a request of a key against its rate. */
  public void countRequest(String key) {
    if (limits.perSecond() > 0) {
      double wait = keys.take(key);
      if (wait > 0) {
        throw rateLimited(
            "the key "
                + key
                + " has exceeded its rate of "
                + limits.perSecond()
                + " requests per second",
            "wait for the time given in Retry-After",
            wait);
      }
    }
  }

  /**
   * Rejects a request with an invalid credential from an address with too many of them. Not called
   * for a valid one: clients behind the same address must not lock each other out, and guessing is
   * hopeless, because a key has 256 random bits.
   */
  public void checkNotBlocked(String address) {
    if (limits.failures() > 0) {
      double wait = failures.secondsUntilToken(ClientAddresses.network(address));
      if (wait > 0) {
        throw rateLimited(
            "the credential is invalid, as many others from this address were",
            "use a valid API key; wait for the time given in Retry-After before the next attempt",
            wait);
      }
    }
  }

  /** Returns whether {@link #checkNotBlocked} rejects this address. */
  public boolean isBlocked(String address) {
    return limits.failures() > 0
        && failures.secondsUntilToken(ClientAddresses.network(address)) > 0;
  }

  /**
   * Records a failed authentication.
   *
   * @return whether the audit log reports it; a flood of them must not displace other entries
   */
  public boolean recordAuthFailure(String address) {
    boolean withinLimit =
        limits.failures() == 0 || failures.take(ClientAddresses.network(address)) == 0;
    return withinLimit && audited.take("") == 0;
  }

  static SandboxException rateLimited(String what, String remedy, double wait) {
    return Fault.of(ErrorCode.RATE_LIMITED, what, remedy)
        .with(RETRY_AFTER, Long.toString((long) Math.ceil(wait)))
        .exception();
  }
}
