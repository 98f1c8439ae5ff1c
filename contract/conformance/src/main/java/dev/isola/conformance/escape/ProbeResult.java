package dev.isola.conformance.escape;

import java.util.Locale;
import java.util.Optional;

/** The result of a probe, as the probe program prints it on one line. */
public record ProbeResult(Verdict verdict, String detail) {
  private static final int MAX_LENGTH = 600;

  /** The first word of the line. */
  public enum Verdict {
    /** The probe reached its target. */
    GOT,
    /** The attempt was refused. */
    REFUSED,
    /** There is no target to attack. */
    ABSENT
  }

  public static ProbeResult got(String detail) {
    return new ProbeResult(Verdict.GOT, detail);
  }

  public static ProbeResult refused(String detail) {
    return new ProbeResult(Verdict.REFUSED, detail);
  }

  /** Parses the output of the probe program; returns empty if it is not a result. */
  public static Optional<ProbeResult> parse(String output) {
    String line = output.strip();
    if (line.length() > MAX_LENGTH || line.indexOf('\n') >= 0) {
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
