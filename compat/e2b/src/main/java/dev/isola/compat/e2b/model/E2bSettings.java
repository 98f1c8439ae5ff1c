package dev.isola.compat.e2b.model;

import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.spec.NetworkMode;
import java.util.Optional;

/**
 * Defaults for what E2B's clients do not specify.
 *
 * @param provider the provider that creates their sandboxes
 * @param network the network mode of sandboxes that may reach the internet
 * @param storage persistent settings; empty if templates and volumes are not offered
 * @param domain the domain of sandboxes in responses; empty for that of the request
 * @param allowInsecure whether clients may create sandboxes that need no token
 */
public record E2bSettings(
    String provider,
    NetworkMode network,
    Optional<SettingsStore> storage,
    Optional<String> domain,
    boolean allowInsecure) {
  /** Returns settings without network access and without persistent storage. */
  public static E2bSettings of(String provider) {
    return new E2bSettings(provider, NetworkMode.NONE, Optional.empty(), Optional.empty(), false);
  }
}
