package dev.isola.engine.placement;

import dev.isola.spi.error.ErrorCode;
import java.time.Instant;

/** One try that failed, and why the next provider was tried, or nobody. */
public record ProviderAttempt(String provider, ErrorCode code, String reason, Instant at) {
  @Override
  public String toString() {
    return provider + ": " + reason;
  }
}
