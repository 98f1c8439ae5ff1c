package dev.isola.app.cli;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.provider.ProviderFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks up provider factories by name, for commands that run several providers, each in its own
 * folder.
 */
public final class ProviderFactorySelection {
  private final Map<String, ProviderFactory> known = new LinkedHashMap<>();

  public ProviderFactorySelection(Iterable<ProviderFactory> factories) {
    for (ProviderFactory factory : factories) {
      known.putIfAbsent(factory.name(), factory);
    }
  }

  public List<ProviderFactory> all() {
    return List.copyOf(known.values());
  }

  /**
   * Returns the factories with the given names.
   *
   * @throws UsageException if a name is unknown
   */
  public List<ProviderFactory> named(List<String> names) {
    List<ProviderFactory> chosen = new ArrayList<>();
    for (String name : names) {
      ProviderFactory factory = known.get(name);
      if (factory == null) {
        throw unknown("provider", name, known.keySet());
      }
      if (!chosen.contains(factory)) {
        chosen.add(factory);
      }
    }
    return chosen;
  }

  /** Returns the error for an unknown name, with a suggestion and the list of known names. */
  public static UsageException unknown(String kind, String name, Collection<String> known) {
    String all = known.isEmpty() ? "none" : String.join(", ", known);
    return new UsageException(
        "no " + kind + " is named '" + name + "'",
        Suggestion.closest(name, known)
            .map(suggestion -> "did you mean " + suggestion + "? Known: " + all)
            .orElse("known: " + all));
  }
}
