package dev.isola.compat.e2b.model;

import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.spec.NetworkMode;
import java.util.Optional;

/**
 * What E2B's clients do not say.
 *
 * @param provider that makes their sandboxes
 * @param network of sandboxes that may have the internet
 * @param keep what outlives the server, where templates and volumes are offered
 */
public record E2bSettings(String provider, NetworkMode network, Optional<SettingsStore> storage) {
  /** With nothing opened that nobody asked for. */
  public static E2bSettings of(String provider) {
    return new E2bSettings(provider, NetworkMode.NONE, Optional.empty());
  }
}
