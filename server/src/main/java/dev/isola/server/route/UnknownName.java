package dev.isola.server.route;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.spec.Violation;
import java.util.Collection;
import java.util.List;

/** Describes unknown fields and parameters, with a suggestion. */
final class UnknownName {
  private static final int MAX_SHOWN = 60;

  private UnknownName() {}

  /** Adds an unknown name to the problems of a request. */
  static void report(
      String prefix, String name, Collection<String> known, List<Violation> problems) {
    String shown = shortened(name);
    String hint =
        OtherNames.hint(name, known).orElseGet(() -> Suggestion.hint(shown, known, problems));
    problems.add(new Violation(prefix + shown, "is unknown" + hint));
  }

  /** Returns a name for a message, truncated if it is long. */
  static String shortened(Object name) {
    String text = String.valueOf(name);
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }
}
