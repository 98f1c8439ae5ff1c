package dev.isola.server.route;

import dev.isola.document.Suggestion;
import dev.isola.spi.spec.Violation;
import java.util.Collection;

/** Describes unknown fields and parameters, with a suggestion. */
final class UnknownName {
  private static final int LONGEST_SHOWN = 60;

  private UnknownName() {}

  static Violation violation(String prefix, String name, Collection<String> known) {
    String shown = name.length() <= LONGEST_SHOWN ? name : name.substring(0, LONGEST_SHOWN) + "...";
    return new Violation(prefix + shown, "is unknown" + Suggestion.hint(shown, known));
  }
}
