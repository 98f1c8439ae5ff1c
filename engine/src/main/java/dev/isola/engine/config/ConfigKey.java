package dev.isola.engine.config;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A configuration key.
 *
 * @param name the name, with dots between sections, such as {@code health.interval}
 * @param defaultValue computes the default
 * @param extraVariables environment variables that also set it
 */
public record ConfigKey<T>(
    String name,
    ValueType<T> type,
    Function<MachineInfo, T> defaultValue,
    List<String> extraVariables) {
  static <T> ConfigKey<T> of(
      String name, ValueType<T> kind, T defaultValue, String... extraVariables) {
    return new ConfigKey<>(name, kind, machine -> defaultValue, List.of(extraVariables));
  }

  static <T> ConfigKey<T> of(
      String name, ValueType<T> kind, Function<MachineInfo, T> defaultValue) {
    return new ConfigKey<>(name, kind, defaultValue, List.of());
  }

  /** Returns the environment variables that set it, in order of precedence. */
  public List<String> variables() {
    return Stream.concat(Stream.of(variable(name)), extraVariables.stream()).toList();
  }

  /** Returns a description of the allowed values. */
  public String allowedValues() {
    return type.description();
  }

  static String variable(String name) {
    return "ISOLA_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
