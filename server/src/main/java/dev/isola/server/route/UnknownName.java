package dev.isola.server.route;

import dev.isola.document.Suggestion;
import dev.isola.spi.spec.Violation;
import java.util.Collection;

/** Describes unknown fields and parameters, with a suggestion. */
final class UnknownName {
  private static final int MAX_SHOWN = 60;

  private UnknownName() {}

  static Violation violation(String prefix, String name, Collection<String> known) {
    String shown = shortened(name);
    return new Violation(
        prefix + shown,
        "is unknown" + OtherNames.hint(name, known).orElseGet(() -> Suggestion.hint(shown, known)));
  }

  /** Returns a name for a message, truncated if it is long. */
  static String shortened(Object name) {
    String text = String.valueOf(name);
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }
}
