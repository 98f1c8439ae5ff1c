package dev.isola.spi.capability;

import java.time.Duration;

/**
 * Enforces the deadline inside the sandbox, so that the sandbox ends even if the server never
 * restarts.
 */
public non-sealed interface Renewing extends Capability {
  /** Sets the deadline to {@code fromNow} from now. */
  void renew(Duration fromNow);
}
