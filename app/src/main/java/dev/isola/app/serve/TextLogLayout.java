package dev.isola.app.serve;

import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.server.AccessLog;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Formats log lines for a terminal. Text from sandboxes and clients cannot control the terminal.
 */
record TextLogLayout(Console console, ZoneId zone) implements LogLayout {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  @Override
  public String message(Instant at, String level, String sentence) {
    String word = level.equals("info") ? "" : console.styled(Style.YELLOW, level + ": ");
    return time(at) + "  " + word + printable(sentence);
  }

  @Override
  public String request(Instant at, AccessLog.Line request) {
    return time(at)
        + "  "
        + status(request.status())
        + " "
        + printable(request.method() + " " + request.route())
        + console.styled(
            Style.DIM,
            "  "
                + request.millis()
                + " ms, key "
                + printable(request.key())
                + ", request "
                + request.requestId());
  }

  private String status(int status) {
    Style paint = status >= 500 ? Style.RED : status >= 400 ? Style.YELLOW : Style.GREEN;
    return console.styled(paint, Integer.toString(status));
  }

  private String time(Instant at) {
    return console.styled(Style.DIM, TIME.format(at.atZone(zone)));
  }

  /**
   * Replaces control characters. Continuation lines are indented, so that none looks like a log
   * line of its own.
   */
  private static String printable(String text) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\n' -> line.append(i == text.length() - 1 ? "" : "\n          ");
        case '\t' -> line.append("  ");
        default -> line.append(Character.isISOControl(c) ? '?' : c);
      }
    }
    return line.toString();
  }
}
