package dev.isola.app.documentation;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Compares output with a sample: {@code ...} in a line stands for any text, a line of {@code ...}
 * for any number of lines.
 */
final class ExpectedOutput {
  private static final String ANY = "...";

  private ExpectedOutput() {}

  static boolean matches(String sample, String output) {
    StringBuilder pattern = new StringBuilder();
    for (String line : lines(sample)) {
      if (line.equals(ANY)) {
        pattern.append("(?:[^\n]*\n)*?");
      } else {
        pattern.append(
            Pattern.compile(ANY, Pattern.LITERAL)
                .splitAsStream(line + "\n")
                .map(Pattern::quote)
                .collect(Collectors.joining("[^\n]*")));
      }
    }
    return Pattern.matches(pattern.toString(), String.join("\n", lines(output)) + "\n");
  }

  /** Lines without trailing spaces and without empty lines at the end. */
  private static List<String> lines(String text) {
    return text.stripTrailing().lines().map(String::stripTrailing).toList();
  }
}
