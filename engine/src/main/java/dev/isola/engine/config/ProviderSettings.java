package dev.isola.engine.config;

import dev.isola.engine.api.Resources;
import dev.isola.spi.Secret;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The settings of one provider. All values are held as secrets. A value is displayed only if the
 * provider does not declare it secret and its name does not suggest a secret.
 */
public final class ProviderSettings {
  private static final Pattern SECRET =
      Pattern.compile("(?i).*(key|token|secret|passw|credential|auth).*");

  private final String name;
  private final SourcedValue<Boolean> enabled;
  private final Optional<SourcedValue<String>> type;
  private final Optional<SourcedValue<String>> region;
  private final Optional<SourcedValue<Boolean>> own;
  private final Optional<SourcedValue<Double>> capacityCpu;
  private final Optional<SourcedValue<Long>> capacityMemoryMb;
  private final Map<String, SourcedValue<Secret>> settings;
  private final Set<String> secrets;

  ProviderSettings(
      String name,
      SourcedValue<Boolean> enabled,
      Optional<SourcedValue<String>> type,
      Optional<SourcedValue<String>> region,
      Optional<SourcedValue<Boolean>> own,
      Optional<SourcedValue<Double>> capacityCpu,
      Optional<SourcedValue<Long>> capacityMemoryMb,
      Map<String, SourcedValue<Secret>> settings,
      Set<String> secrets) {
    this.name = name;
    this.enabled = enabled;
    this.type = type;
    this.region = region;
    this.own = own;
    this.capacityCpu = capacityCpu;
    this.capacityMemoryMb = capacityMemoryMb;
    this.settings = Collections.unmodifiableMap(new TreeMap<>(settings));
    this.secrets = Set.copyOf(secrets);
  }

  /** Returns the settings of a provider that is not configured. */
  public static ProviderSettings defaults(String name) {
    return new ProviderSettings(
        name,
        new SourcedValue<>(true, new ValueOrigin.Default()),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Map.of(),
        Set.of());
  }

  public String name() {
    return name;
  }

  public boolean enabled() {
    return enabled.value();
  }

  /** Returns the provider type; the name if no type is configured. */
  public String type() {
    return type.map(SourcedValue::value).orElse(name);
  }

  /** Returns the region label that requests select this instance by. */
  public Optional<String> region() {
    return region.map(SourcedValue::value);
  }

  /** Returns whether its sandboxes run on another machine of the operator. */
  public boolean own() {
    return own.map(SourcedValue::value).orElse(false);
  }

  /** Returns the dedicated capacity; empty if the provider shares that of the installation. */
  public Optional<Resources> capacity() {
    if (capacityCpu.isEmpty() && capacityMemoryMb.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Resources(
            capacityMemoryMb.map(SourcedValue::value).orElse(Resources.UNLIMITED),
            capacityCpu
                .map(sourced -> Resources.of(sourced.value(), 0).milliCpu())
                .orElse(Resources.UNLIMITED)));
  }

  Optional<SourcedValue<Double>> capacityCpu() {
    return capacityCpu;
  }

  Optional<SourcedValue<Long>> capacityMemoryMb() {
    return capacityMemoryMb;
  }

  Optional<SourcedValue<String>> sourcedType() {
    return type;
  }

  Optional<SourcedValue<String>> sourcedRegion() {
    return region;
  }

  Optional<SourcedValue<Boolean>> sourcedOwn() {
    return own;
  }

  SourcedValue<Boolean> sourcedEnabled() {
    return enabled;
  }

  Map<String, SourcedValue<Secret>> settings() {
    return settings;
  }

  /** Returns the settings to pass to the provider, with secrets in plain text. */
  public ProviderConfig config() {
    Map<String, String> open = new LinkedHashMap<>();
    settings.forEach((setting, sourced) -> open.put(setting, reveal(sourced.value())));
    return new ProviderConfig(open);
  }

  /** Returns a setting for display. */
  Optional<String> displayValue(String setting) {
    return Optional.ofNullable(settings.get(setting))
        .map(sourced -> isSecret(setting) ? "***" : reveal(sourced.value()));
  }

  private boolean isSecret(String setting) {
    return secrets.contains(setting) || SECRET.matcher(setting).matches();
  }

  private static String reveal(Secret secret) {
    return new String(secret.reveal(), StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return name + settings.keySet();
  }
}
