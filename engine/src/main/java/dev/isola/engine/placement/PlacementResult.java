package dev.isola.engine.placement;

import dev.isola.engine.selection.Rejection;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.ProviderInfo;
import java.util.List;

/**
 * A sandbox, its provider, and how the provider was determined.
 *
 * @param provider the provider in use, with its isolation; every response names both
 * @param attempts the failed attempts, in order
 * @param rejections the providers that were not tried
 */
public record PlacementResult(
    Sandbox sandbox,
    ProviderInfo provider,
    List<ProviderAttempt> attempts,
    List<Rejection> rejections) {
  public PlacementResult {
    attempts = List.copyOf(attempts);
    rejections = List.copyOf(rejections);
  }
}
