package dev.isola.conformance;

import java.util.Locale;

/**
 * The result of a check.
 *
 * @param reason of a passed check what it measured, which may be empty
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
