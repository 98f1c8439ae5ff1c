package dev.isola.engine.config;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.provider.ProviderSetting;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads values from the environment. An empty variable counts as unset. An unknown variable that
 * starts with {@code ISOLA_} causes only a warning, because other software sets such variables too:
 * Kubernetes does for a service of that name.
 */
final class EnvironmentLayer {
  private static final String PROVIDERS = "ISOLA_PROVIDERS_";

  /** Variables of Isola that are not configuration keys. */
  private static final Set<String> NOT_CONFIG =
      Set.of(
          "ISOLA_API_KEY",
          "ISOLA_CONFIG",
          "ISOLA_DEBUG",
          "ISOLA_JAVA_OPTS",
          "ISOLA_MICROVMCTL_CALL",
          "ISOLA_SANDBOX",
          "ISOLA_INSTANCE");

  private final Map<String, String> environment = new TreeMap<>();
  private final Map<String, List<ProviderSetting>> declared;
  private final LayeredConfig layers;
  private final KnownProviders names;

  EnvironmentLayer(ConfigInput sources, LayeredConfig layers, KnownProviders names) {
    sources
        .environment()
        .forEach(
            (variable, text) -> {
              if (!text.isEmpty()) {
                environment.put(variable, text);
              }
            });
    this.declared = sources.settings();
    this.layers = layers;
    this.names = names;
  }

  void read() {
    ConfigKeys.ALL.forEach(this::read);
    declared.forEach((provider, settings) -> settings.forEach(one -> read(provider, one)));
    environment.forEach(
        (variable, text) -> {
          if (variable.startsWith(PROVIDERS)) {
            provider(variable, text);
          }
        });
  }

  /** Reads a provider setting from a variable that another tool defines. */
  private void read(String provider, ProviderSetting setting) {
    setting
        .variable()
        .filter(environment::containsKey)
        .ifPresent(
            variable ->
                layers.put(
                    provider,
                    setting.name(),
                    environment.getOrDefault(variable, ""),
                    new ValueOrigin.Environment(variable)));
  }

  private void read(ConfigKey<?> key) {
    for (String variable : key.variables()) {
      String text = environment.get(variable);
      if (text != null) {
        layers.put(key, normalized(variable, text), new ValueOrigin.Environment(variable));
        return;
      }
    }
  }

  /** The specification of this variable enables the setting for every value but {@code false}. */
  private static String normalized(String variable, String text) {
    return variable.equals("LOCAL_MICROVM_FALLBACK_TO_REMOTE")
        ? String.valueOf(!text.strip().equalsIgnoreCase("false"))
        : text;
  }

  private void provider(String variable, String text) {
    String rest = variable.substring(PROVIDERS.length());
    Optional<String> name =
        names.known().stream()
            .filter(known -> rest.startsWith(prefix(known)))
            .max(Comparator.comparingInt(String::length));
    ValueOrigin origin = new ValueOrigin.Environment(variable);
    if (name.isEmpty()) {
      layers.reject(
          origin, "providers", "names no provider; known: " + String.join(", ", names.known()));
      return;
    }
    String setting = rest.substring(prefix(name.get()).length()).toLowerCase(Locale.ROOT);
    if (!setting.isEmpty()) {
      layers.put(name.get(), setting, text, origin);
    }
  }

  private static String prefix(String provider) {
    return provider.toUpperCase(Locale.ROOT).replace('-', '_') + "_";
  }

  /** Returns warnings about unknown variables that resemble known ones. */
  List<String> warnings() {
    TreeSet<String> known = new TreeSet<>();
    ConfigKeys.ALL.forEach(key -> known.addAll(key.variables()));
    List<String> warnings = new ArrayList<>();
    for (String variable : environment.keySet()) {
      if (variable.startsWith("ISOLA_")
          && !variable.startsWith(PROVIDERS)
          && !known.contains(variable)
          && !NOT_CONFIG.contains(variable)) {
        Suggestion.closest(variable, known)
            .ifPresent(
                near ->
                    warnings.add(variable + " is unknown and ignored, did you mean " + near + "?"));
      }
    }
    return warnings;
  }
}
