package dev.isola.engine.placement;

import dev.isola.engine.selection.Rejection;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.ProviderInfo;
import java.util.List;

/**
 * A sandbox, who made it, and how it came to that.
 *
 * @param provider the one really used, with its isolation; every answer names both
 * @param attempts those that failed before, in order
 * @param rejections those that were not tried
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
