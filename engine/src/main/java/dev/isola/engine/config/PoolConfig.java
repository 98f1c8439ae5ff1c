package dev.isola.engine.config;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;

/**
 * The configuration of one group of warm sandboxes.
 *
 * @param request the request that each sandbox is created with; the id of its spec is ignored
 */
public record PoolConfig(CreateRequest request, int size, ValueOrigin origin) {
  /** Returns the name of the provider, or auto. */
  public String provider() {
    return request.placement().provider() instanceof ProviderPreference.Named(String name)
        ? name
        : "auto";
  }

  /** Omits the spec, whose environment may contain secrets. */
  @Override
  public String toString() {
    return size + " of " + provider() + " from " + origin.description();
  }
}
