package dev.isola.document.request;

import java.time.Duration;
import java.util.Optional;

/**
 * How long a sandbox lives, and what the engine does when that is over.
 *
 * @param ttl how long after create it expires; empty for no expiry. The engine gives the provider a
 *     deadline made from it
 * @param idleTimeout how long after its last use it is idle; empty for never
 * @param whenIdle what becomes of it when it is idle; the next request resumes it
 * @param whenExpired what becomes of it when its ttl is over; the ttl begins anew when it is
 *     resumed
 * @param autoResume whether traffic to one of its ports resumes it when it is paused, and any
 *     request when it was suspended by its expiry
 */
public record Lifecycle(
    Optional<Duration> ttl,
    Optional<Duration> idleTimeout,
    ExpiryAction whenIdle,
    ExpiryAction whenExpired,
    boolean autoResume) {
  public static final Lifecycle DEFAULT =
      new Lifecycle(
          Optional.empty(), Optional.empty(), ExpiryAction.DESTROY, ExpiryAction.DESTROY, false);

  public static Lifecycle ttl(Duration fromCreate) {
    return DEFAULT.withTtl(fromCreate);
  }

  public Lifecycle withTtl(Duration fromCreate) {
    return new Lifecycle(Optional.of(fromCreate), idleTimeout, whenIdle, whenExpired, autoResume);
  }

  public Lifecycle withIdleTimeout(Duration unused) {
    return new Lifecycle(ttl, Optional.of(unused), whenIdle, whenExpired, autoResume);
  }

  public Lifecycle withWhenIdle(ExpiryAction action) {
    return new Lifecycle(ttl, idleTimeout, action, whenExpired, autoResume);
  }

  public Lifecycle withWhenExpired(ExpiryAction action) {
    return new Lifecycle(ttl, idleTimeout, whenIdle, action, autoResume);
  }

  public Lifecycle withAutoResume(boolean byTraffic) {
    return new Lifecycle(ttl, idleTimeout, whenIdle, whenExpired, byTraffic);
  }
}
