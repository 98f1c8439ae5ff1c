package dev.isola.engine.placement;

import dev.isola.spi.error.ErrorCode;
import java.time.Instant;

/** A failed attempt to create a sandbox at a provider. */
public record ProviderAttempt(String provider, ErrorCode code, String reason, Instant at) {
  @Override
  public String toString() {
    return provider + ": " + reason;
  }
}
