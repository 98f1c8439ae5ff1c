package dev.isola.engine.config;

import dev.isola.document.NearMiss;
import dev.isola.engine.api.ProviderNames;
import java.util.Collection;
import java.util.Collections;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The providers that a configuration may name: those installed, and instances of them. */
final class Names {
  /** It becomes the name of a folder, a metric label and a part of variables. */
  private static final Pattern INSTANCE = Pattern.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*");

  private static final int LONGEST = 40;

  private final TreeSet<String> types = new TreeSet<>();
  private final TreeSet<String> known = new TreeSet<>();
  private final Layers layers;

  Names(Collection<String> installed, Layers layers) {
    types.addAll(installed);
    types.addAll(ProviderNames.WITH_OTHER_NAMES);
    known.addAll(types);
    this.layers = layers;
  }

  Collection<String> known() {
    return Collections.unmodifiableSet(known);
  }

  /** Returns the provider's own name; refuses one that is not known. */
  Optional<String> provider(String written, Origin origin, String key) {
    String name = ProviderNames.plain(written);
    if (known.contains(name) || (name.equals(ProviderNames.AUTO) && !key.equals("providers"))) {
      return Optional.of(name);
    }
    layers.refuse(
        origin, key, "names no provider: " + Kind.brief(written) + NearMiss.hint(written, known));
    return Optional.empty();
  }

  /** Makes the name of an instance known, before what may name it is read. */
  void declare(String name, String type) {
    if (types.contains(type) && isInstance(name)) {
      known.add(name);
    }
  }

  private static boolean isInstance(String name) {
    return INSTANCE.matcher(name).matches()
        && name.length() <= LONGEST
        && !name.equals(ProviderNames.AUTO);
  }

  /**
   * Returns the name of a provider that has settings; refuses one that is neither a type nor an
   * instance of a type.
   *
   * @param type the type that is set for it, if any
   */
  Optional<String> configured(String written, Optional<String> type, Origin origin) {
    String name = ProviderNames.plain(written);
    String key = "providers." + written;
    if (types.contains(name)) {
      if (type.isPresent() && !type.get().equals(name)) {
        layers.refuse(
            origin, key, "is a type of provider itself; choose another name for an instance");
        return Optional.empty();
      }
      return Optional.of(name);
    }
    if (type.isEmpty()) {
      return known.contains(name) ? Optional.of(name) : unknown(written, origin);
    }
    if (!types.contains(type.get())) {
      layers.refuse(
          origin,
          key + ".type",
          "is not a type of provider: "
              + Kind.brief(type.get())
              + NearMiss.hint(type.get(), types)
              + "; there are "
              + String.join(", ", types));
      return Optional.empty();
    }
    if (!isInstance(name)) {
      layers.refuse(
          origin,
          key,
          "is not a name for an instance: use at most "
              + LONGEST
              + " lower-case letters, digits and dashes, such as docker-east");
      return Optional.empty();
    }
    known.add(name);
    return Optional.of(name);
  }

  private Optional<String> unknown(String written, Origin origin) {
    layers.refuse(
        origin,
        "providers",
        "names no provider: "
            + Kind.brief(written)
            + NearMiss.hint(written, types)
            + "; an instance with a name of its own needs a type");
    return Optional.empty();
  }
}
