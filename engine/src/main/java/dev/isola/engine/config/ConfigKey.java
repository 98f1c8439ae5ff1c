package dev.isola.engine.config;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A key of the configuration.
 *
 * @param name with dots for sections, as in {@code health.interval}
 * @param standard the default
 * @param alsoVariables names in the environment besides its own
 */
public record ConfigKey<T>(
    String name,
    ValueType<T> type,
    Function<MachineInfo, T> defaultValue,
    List<String> extraVariables) {
  static <T> ConfigKey<T> of(String name, ValueType<T> kind, T standard, String... alsoVariables) {
    return new ConfigKey<>(name, kind, machine -> standard, List.of(alsoVariables));
  }

  static <T> ConfigKey<T> of(String name, ValueType<T> kind, Function<MachineInfo, T> standard) {
    return new ConfigKey<>(name, kind, standard, List.of());
  }

  /** Returns its names in the environment, the strongest first. */
  public List<String> variables() {
    return Stream.concat(Stream.of(variable(name)), extraVariables.stream()).toList();
  }

  /** Returns what values it takes, in words. */
  public String allowedValues() {
    return type.description();
  }

  static String variable(String name) {
    return "ISOLA_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
