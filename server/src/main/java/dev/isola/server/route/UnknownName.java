package dev.isola.server.route;

import dev.isola.document.Suggestion;
import dev.isola.spi.spec.Violation;
import java.util.Collection;

/** Describes unknown fields and parameters, with a suggestion. */
final class UnknownName {
  private static final int MAX_SHOWN = 60;

  private UnknownName() {}

  static Violation violation(String prefix, String name, Collection<String> known) {
    String shortened = name.length() <= MAX_SHOWN ? name : name.substring(0, MAX_SHOWN) + "...";
    return new Violation(prefix + shortened, "is unknown" + Suggestion.hint(shortened, known));
  }
}
