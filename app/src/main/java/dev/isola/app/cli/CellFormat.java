package dev.isola.app.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Formats values for tables and messages. */
public final class CellFormat {
  private CellFormat() {}

  /**
   * Returns untrusted text with control and format characters replaced, so that it cannot control
   * the terminal.
   */
  public static String text(String text) {
    StringBuilder safe = new StringBuilder(text.length());
    text.codePoints()
        .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '?' : c)
        .forEach(safe::appendCodePoint);
    return safe.toString();
  }

  public static String truncated(String text, int maxLength) {
    String safe = text(text);
    return safe.length() <= maxLength ? safe : safe.substring(0, maxLength - 1) + "…";
  }

  /** Formats a duration as 45s, 12m, 3h or 5d. */
  public static String duration(Duration time) {
    long seconds = Math.max(0, time.toSeconds());
    if (seconds < 120) {
      return seconds + "s";
    }
    if (seconds < 2 * 3600) {
      return seconds / 60 + "m";
    }
    return seconds < 2 * 86_400 ? seconds / 3600 + "h" : seconds / 86_400 + "d";
  }

  public static String age(Instant then, Instant now) {
    return duration(Duration.between(then, now));
  }

  /** Formats a size as 512 B, 1.5 MB or 20 GB, in powers of 1024. */
  public static String size(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    while (value >= 1023.95) {
      value /= 1024;
      unit++;
    }
    return String.format(
        Locale.ROOT, value < 9.95 ? "%.1f %cB" : "%.0f %cB", value, "KMGTPE".charAt(unit));
  }
}
