package dev.isola.spi.provider;

import java.util.Map;
import java.util.Optional;

/** The settings of one provider, as text by name. */
public record ProviderConfig(Map<String, String> settings) {
  public static final ProviderConfig EMPTY = new ProviderConfig(Map.of());

  public ProviderConfig {
    settings = Map.copyOf(settings);
  }

  public Optional<String> get(String name) {
    return Optional.ofNullable(settings.get(name));
  }
}
