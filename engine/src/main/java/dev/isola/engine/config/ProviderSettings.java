package dev.isola.engine.config;

import dev.isola.spi.Secret;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What is configured for one provider. Only the provider knows which of its settings are secret, so
 * all of them are kept as secrets; those whose names sound harmless can be shown.
 */
public final class ProviderSettings {
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(key|token|secret|passw|credential|auth).*");

  private final String name;
  private final Given<Boolean> enabled;
  private final Optional<Given<String>> type;
  private final Optional<Given<String>> region;
  private final Map<String, Given<Secret>> settings;

  ProviderSettings(
      String name,
      Given<Boolean> enabled,
      Optional<Given<String>> type,
      Optional<Given<String>> region,
      Map<String, Given<Secret>> settings) {
    this.name = name;
    this.enabled = enabled;
    this.type = type;
    this.region = region;
    this.settings = Collections.unmodifiableMap(new TreeMap<>(settings));
  }

  /** A provider that nothing is configured for. */
  public static ProviderSettings none(String name) {
    return new ProviderSettings(
        name,
        new Given<>(true, new Origin.Default()),
        Optional.empty(),
        Optional.empty(),
        Map.of());
  }

  public String name() {
    return name;
  }

  public boolean enabled() {
    return enabled.value();
  }

  /** Returns the type of provider that this is an instance of: its name, unless it says another. */
  public String type() {
    return type.map(Given::value).orElse(name);
  }

  /** Returns the label by which requests ask for this instance, and others of the same region. */
  public Optional<String> region() {
    return region.map(Given::value);
  }

  Optional<Given<String>> typeGiven() {
    return type;
  }

  Optional<Given<String>> regionGiven() {
    return region;
  }

  Given<Boolean> enabledGiven() {
    return enabled;
  }

  Map<String, Given<Secret>> settings() {
    return settings;
  }

  /** Returns what the provider is given; secrets are open in it. */
  public ProviderConfig config() {
    Map<String, String> open = new LinkedHashMap<>();
    settings.forEach((setting, given) -> open.put(setting, reveal(given.value())));
    return new ProviderConfig(open);
  }

  /** Returns a setting as it may be shown. */
  Optional<String> shown(String setting) {
    return Optional.ofNullable(settings.get(setting))
        .map(given -> SECRET.matcher(setting).matches() ? "***" : reveal(given.value()));
  }

  private static String reveal(Secret secret) {
    return new String(secret.reveal(), StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return name + settings.keySet();
  }
}
