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
public record Key<T>(
    String name, Kind<T> kind, Function<Machine, T> standard, List<String> alsoVariables) {
  static <T> Key<T> of(String name, Kind<T> kind, T standard, String... alsoVariables) {
    return new Key<>(name, kind, machine -> standard, List.of(alsoVariables));
  }

  static <T> Key<T> of(String name, Kind<T> kind, Function<Machine, T> standard) {
    return new Key<>(name, kind, standard, List.of());
  }

  /** Returns its names in the environment, the strongest first. */
  public List<String> variables() {
    return Stream.concat(Stream.of(variable(name)), alsoVariables.stream()).toList();
  }

  /** Returns what values it takes, in words. */
  public String values() {
    return kind.words();
  }

  static String variable(String name) {
    return "ISOLA_" + name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }
}
