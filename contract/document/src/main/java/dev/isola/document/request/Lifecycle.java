package dev.isola.document.request;

import java.time.Duration;
import java.util.Optional;

/**
 * When a sandbox expires, and what the engine does then.
 *
 * @param ttl the time after create at which the sandbox expires; empty for no expiry. The engine
 *     passes the provider a deadline derived from it
 * @param idleTimeout the time since the last activity after which the sandbox is idle; empty for
 *     never
 * @param whenIdle the action when the sandbox is idle; the next request resumes it
 * @param whenExpired the action when the TTL expires; a resume restarts the TTL
 * @param autoResume whether traffic to a port resumes a paused sandbox, and any request resumes one
 *     that was suspended when it expired
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
