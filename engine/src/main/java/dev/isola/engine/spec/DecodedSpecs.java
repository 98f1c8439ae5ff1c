package dev.isola.engine.spec;

import dev.isola.document.request.CreateRequest;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The stored specs that were decoded last, by their text. A list of sandboxes, a tick of the expiry
 * timer and every request of a sandbox need its spec; decoding costs much more than comparing the
 * text.
 */
final class DecodedSpecs {
  /**
   * A decoded spec.
   *
   * @param secretNames names of the secret variables, whose values are stored elsewhere
   */
  record Spec(CreateRequest request, List<String> secretNames) {
    Spec {
      secretNames = List.copyOf(secretNames);
    }
  }

  private final int mostCharacters;
  private final Map<String, Spec> byText = new LinkedHashMap<>(16, 0.75f, true);
  private long characters;

  /**
   * Creates an empty cache.
   *
   * @param mostCharacters the length of all texts together; a text may have a sixteenth of it
   */
  DecodedSpecs(int mostCharacters) {
    this.mostCharacters = mostCharacters;
  }

  synchronized Optional<Spec> find(String text) {
    return Optional.ofNullable(byText.get(text));
  }

  /** Adds a spec and removes those that were used least recently, if there are too many. */
  synchronized void add(String text, Spec spec) {
    if (text.length() > mostCharacters / 16 || byText.put(text, spec) != null) {
      return;
    }
    characters += text.length();
    Iterator<String> eldest = byText.keySet().iterator();
    while (characters > mostCharacters) {
      characters -= eldest.next().length();
      eldest.remove();
    }
  }
}
