package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;

/**
 * Computes the deadline that a provider enforces by itself if the server never returns. A sandbox
 * that is suspended on expiry gets a grace period, so that it still exists when the server suspends
 * it.
 */
public final class Deadlines {
  private static final Duration GRACE = Duration.ofHours(1);

  /** The deadline of a suspended sandbox. */
  static final Duration WHILE_SUSPENDED = Duration.ofDays(3650);

  private Deadlines() {}

  /** Returns the spec of the request with the deadline for the provider. */
  public static SandboxSpec forProvider(CreateRequest request) {
    Lifecycle lifecycle = request.lifecycle();
    return lifecycle
        .ttl()
        .map(ttl -> request.spec().toBuilder().deadline(forProvider(lifecycle, ttl)).build())
        .orElse(request.spec());
  }

  /** Returns the deadline for the provider of a sandbox with the given TTL. */
  public static Duration forProvider(Lifecycle lifecycle, Duration time) {
    if (lifecycle.whenExpired() == ExpiryAction.DESTROY
        || time.compareTo(WHILE_SUSPENDED.minus(GRACE)) > 0) {
      return time;
    }
    return time.plus(GRACE);
  }

  /** Sets the deadline of a sandbox to {@code time} from now, if its provider supports renewal. */
  public static void renew(Sandbox sandbox, Duration time) {
    sandbox.as(Renewing.class).ifPresent(one -> one.renew(time));
  }
}
