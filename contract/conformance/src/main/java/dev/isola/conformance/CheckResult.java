package dev.isola.conformance;

import java.util.Locale;

/**
 * What came of one check.
 *
 * @param reason empty when it passed
 */
public record CheckResult(String id, String requirement, Outcome outcome, String reason) {
  public enum Outcome {
    PASSED,
    FAILED,
    NOT_RUN;

    public String wireName() {
      return this == NOT_RUN ? "not run" : name().toLowerCase(Locale.ROOT);
    }
  }
}
