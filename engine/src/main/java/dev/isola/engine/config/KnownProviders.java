package dev.isola.engine.config;

import dev.isola.document.field.Suggestion;
import dev.isola.engine.api.ProviderNames;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The providers that a configuration may name: the installed types and the configured instances.
 */
final class KnownProviders {
  /** An instance name is also a folder name, a metric label and part of environment variables. */
  private static final Pattern INSTANCE = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

  private static final int MAX_LENGTH = 40;

  private final TreeSet<String> types = new TreeSet<>();
  private final TreeSet<String> known = new TreeSet<>();
  private final LayeredConfig layers;

  KnownProviders(Collection<String> installed, LayeredConfig layers) {
    types.addAll(installed);
    types.addAll(ProviderNames.ALIASED);
    known.addAll(types);
    this.layers = layers;
  }

  Collection<String> known() {
    return Collections.unmodifiableSet(known);
  }

  /** Returns the canonical name of a provider; rejects an unknown name. */
  Optional<String> resolve(String written, ValueOrigin origin, String key) {
    String name = ProviderNames.canonical(written);
    if (known.contains(name) || (name.equals(ProviderNames.AUTO) && !key.equals("providers"))) {
      return Optional.of(name);
    }
    layers.reject(
        origin,
        key,
        "names no provider: " + ValueType.truncated(written) + Suggestion.hint(written, known));
    return Optional.empty();
  }

  /** Registers the name of an instance before settings that refer to it are read. */
  void declareInstance(String name, String type) {
    if (types.contains(type) && isInstance(name)) {
      known.add(name);
    }
  }

  private static boolean isInstance(String name) {
    return INSTANCE.matcher(name).matches()
        && name.length() <= MAX_LENGTH
        && !name.equals(ProviderNames.AUTO);
  }

  /**
   * Returns the canonical name of a provider that has settings; rejects a name that is neither a
   * type nor an instance of a type.
   *
   * @param type the configured type, if any
   */
  Optional<String> resolveConfigured(String written, Optional<String> type, ValueOrigin origin) {
    String name = ProviderNames.canonical(written);
    String key = "providers." + written;
    if (types.contains(name)) {
      if (type.isPresent() && !type.get().equals(name)) {
        layers.reject(
            origin, key, "is the name of a provider type; choose another name for the instance");
        return Optional.empty();
      }
      return Optional.of(name);
    }
    if (type.isEmpty()) {
      return known.contains(name) ? Optional.of(name) : unknown(written, origin);
    }
    if (!types.contains(type.get())) {
      layers.reject(
          origin,
          key + ".type",
          "is not a provider type: "
              + ValueType.truncated(type.get())
              + Suggestion.hint(type.get(), types)
              + "; known types: "
              + String.join(", ", types));
      return Optional.empty();
    }
    if (!isInstance(name)) {
      layers.reject(
          origin,
          key,
          "is not a valid instance name: use at most "
              + MAX_LENGTH
              + " lower-case letters, digits and dashes, such as docker-east");
      return Optional.empty();
    }
    known.add(name);
    return Optional.of(name);
  }

  private Optional<String> unknown(String written, ValueOrigin origin) {
    layers.reject(
        origin,
        "providers",
        "names no provider: "
            + ValueType.truncated(written)
            + Suggestion.hint(written, types)
            + "; to define an instance with this name, set its type");
    return Optional.empty();
  }
}
