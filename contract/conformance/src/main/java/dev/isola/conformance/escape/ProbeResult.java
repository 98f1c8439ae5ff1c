package dev.isola.conformance.escape;

import java.util.Locale;
import java.util.Optional;

/** How one attempt went, as the program says it in its one line. */
public record ProbeResult(Verdict verdict, String detail) {
  private static final int LONGEST = 600;

  /** What the line starts with. */
  public enum Verdict {
    /** It got through. */
    GOT,
    /** The attempt failed. */
    REFUSED,
    /** There is nothing here to attack. */
    ABSENT
  }

  public static ProbeResult got(String detail) {
    return new ProbeResult(Verdict.GOT, detail);
  }

  public static ProbeResult refused(String detail) {
    return new ProbeResult(Verdict.REFUSED, detail);
  }

  /** Reads what the program wrote; empty when that is no answer. */
  public static Optional<ProbeResult> parse(String output) {
    String line = output.strip();
    if (line.length() > LONGEST || line.indexOf('\n') >= 0) {
      return Optional.empty();
    }
    for (Verdict word : Verdict.values()) {
      String start = word.name().toLowerCase(Locale.ROOT) + ": ";
      if (line.startsWith(start)) {
        return Optional.of(new ProbeResult(word, line.substring(start.length())));
      }
    }
    return Optional.empty();
  }

  public boolean escaped() {
    return verdict == Verdict.GOT;
  }

  @Override
  public String toString() {
    return verdict.name().toLowerCase(Locale.ROOT) + ": " + detail;
  }
}
