package dev.isola.spi.capability;

import java.time.Duration;

/**
 * Carries the deadline inside the sandbox, so that it ends by itself even if the server never comes
 * back.
 */
public non-sealed interface Renewing extends Capability {
  /** Sets the deadline to {@code fromNow}. */
  void renew(Duration fromNow);
}
