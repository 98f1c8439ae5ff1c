package dev.isola.engine.api;

import dev.isola.spi.error.SandboxException;
import java.util.Optional;

/**
 * What a create request would get now.
 *
 * @param warm whether a sandbox of the warm pool is ready for it
 * @param problem the error of the request; empty if a provider is chosen
 */
public record PlacementPlan(Selection selection, boolean warm, Optional<SandboxException> problem) {

  /** Returns a plan for a request that fails, whichever providers are eligible. */
  public PlacementPlan failingWith(SandboxException error) {
    return new PlacementPlan(selection, false, Optional.of(error));
  }
}
