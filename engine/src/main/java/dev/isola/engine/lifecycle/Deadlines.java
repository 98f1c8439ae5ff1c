package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/**
 * When a sandbox ends by itself, for who never comes back. One that is to be kept when its time is
 * up must live to see that.
 */
public final class Deadlines {
  private static final Duration GRACE = Duration.ofHours(1);

  /** How long one that rests may do so when nobody looks after it. */
  static final Duration WHILE_SUSPENDED = Duration.ofDays(3650);

  private Deadlines() {}

  /** Returns the spec that a provider is given: that of the request, with a deadline. */
  public static SandboxSpec forProvider(CreateRequest request) {
    Lifecycle lifecycle = request.lifecycle();
    return lifecycle
        .ttl()
        .map(ttl -> request.spec().toBuilder().deadline(forProvider(lifecycle, ttl)).build())
        .orElse(request.spec());
  }

  /** Returns what the sandbox itself is told when it may live for {@code time}. */
  public static Duration forProvider(Lifecycle lifecycle, Duration time) {
    if (lifecycle.whenExpired() == ExpiryAction.DESTROY
        || time.compareTo(WHILE_SUSPENDED.minus(GRACE)) > 0) {
      return time;
    }
    return time.plus(GRACE);
  }

  /** Tells a sandbox, if it can be told, for how long it may live from now on. */
  public static void renew(Sandbox sandbox, Duration time) {
    sandbox.as(Renewing.class).ifPresent(one -> one.renew(time));
  }
}
