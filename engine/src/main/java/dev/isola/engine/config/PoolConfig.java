package dev.isola.engine.config;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;

/**
 * Sandboxes to keep ready.
 *
 * @param request for each; the id of its spec stands for nothing
 */
public record PoolConfig(CreateRequest request, int size, ValueOrigin origin) {
  /** Returns the name of its provider, or auto. */
  public String provider() {
    return request.placement().provider() instanceof ProviderPreference.Named(String name)
        ? name
        : "auto";
  }

  /** The spec's environment may hold secrets. */
  @Override
  public String toString() {
    return size + " of " + provider() + " from " + origin.description();
  }
}
