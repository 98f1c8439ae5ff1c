package dev.isola.testing.runner;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The result of one test.
 *
 * @param suite the test class, or the name of a suite that is not JUnit's
 * @param reason why it failed or was not run; empty if it passed
 */
record TestResult(
    String module, String suite, String name, Outcome outcome, long millis, String reason) {
  enum Outcome {
    PASSED,
    FAILED,
    NOT_RUN
  }

  /** Begins each line that a test process writes for {@link TestProcess}. */
  static final String MARK = "\u0001";

  private static final Pattern PREFIX =
      Pattern.compile("^(Assumption failed: )?(NOT RUN)?:? ?([A-Za-z]+\\.[A-Za-z]+)?:? ?");

  /** Returns the reason in one line, without what differs from test to test. */
  String shortReason() {
    String line = reason.strip().lines().findFirst().orElse("no reason was given");
    Matcher prefix = PREFIX.matcher(line);
    String rest = prefix.find() ? line.substring(prefix.end()) : line;
    return rest.isBlank() ? line : rest;
  }

  /** Returns the provider that was tested, for the classes that run the conformance kit. */
  Optional<String> provider() {
    String simple = suite.substring(suite.lastIndexOf('.') + 1);
    return simple.endsWith("ConformanceTest")
        ? Optional.of(simple.replace("ConformanceTest", "").toLowerCase(java.util.Locale.ROOT))
        : Optional.empty();
  }

  /** Returns a line of a table, which {@link #parse} reads. */
  String line() {
    return String.join(
        "\t", module, suite, escape(name), outcome.name(), Long.toString(millis), escape(reason));
  }

  static TestResult parse(String line) {
    String[] cells = line.split("\t", -1);
    return new TestResult(
        cells[0],
        cells[1],
        unescape(cells[2]),
        Outcome.valueOf(cells[3]),
        Long.parseLong(cells[4]),
        unescape(cells[5]));
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\")
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\t", "\\t");
  }

  private static String unescape(String text) {
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '\\') {
        plain.append(c);
        continue;
      }
      char next = text.charAt(++i);
      plain.append(next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : next);
    }
    return plain.toString();
  }
}
