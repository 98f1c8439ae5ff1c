package dev.isola.tests;

import java.util.List;
import java.util.Locale;

/**
 * A place that violates a {@link Rule} for a reason.
 *
 * @param member the class and the method or field, {@code dev.isola.app.ServeTest.start}
 */
record Exemption(String member, Rule rule, String reason) {
  /** Parses one line of {@code test-code-exemptions.tsv}. */
  static Exemption parse(String line) {
    List<String> columns = List.of(line.split("\t", -1));
    if (columns.size() != 3 || columns.stream().anyMatch(String::isBlank)) {
      throw new IllegalArgumentException(
          "test-code-exemptions.tsv takes a member, a rule and a reason: " + line);
    }
    return new Exemption(
        columns.get(0), Rule.valueOf(columns.get(1).toUpperCase(Locale.ROOT)), columns.get(2));
  }

  boolean covers(Finding finding) {
    return finding.rule() == rule && finding.member().equals(member);
  }
}
