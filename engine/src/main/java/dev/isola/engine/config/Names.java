package dev.isola.engine.config;

import dev.isola.document.NearMiss;
import dev.isola.engine.api.ProviderNames;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** The providers that a configuration may name: those installed and those Isola knows of. */
final class Names {
  private final TreeSet<String> known = new TreeSet<>(ProviderNames.KNOWN);
  private final Layers layers;

  Names(Collection<String> installed, Layers layers) {
    known.addAll(installed);
    known.addAll(List.of(ProviderNames.E2B, ProviderNames.MICROVM));
    this.layers = layers;
  }

  Collection<String> known() {
    return known;
  }

  /** Returns the provider's own name; writes down when nobody has it. */
  Optional<String> provider(String written, Origin origin, String key) {
    String name = ProviderNames.plain(written);
    if (known.contains(name) || (name.equals(ProviderNames.AUTO) && !key.equals("providers"))) {
      return Optional.of(name);
    }
    layers.refuse(
        origin, key, "names no provider: " + Kind.brief(written) + NearMiss.hint(written, known));
    return Optional.empty();
  }
}
