package dev.isola.app.serve;

import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Paint;
import dev.isola.server.AccessLog;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Lines for people at a terminal. Nothing that a sandbox or a client wrote controls it. */
record TextLogLayout(Console console, ZoneId zone) implements LogLayout {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

  @Override
  public String sentence(Instant at, String level, String sentence) {
    String word = level.equals("info") ? "" : console.paint(Paint.YELLOW, level + ": ");
    return time(at) + "  " + word + printable(sentence);
  }

  @Override
  public String request(Instant at, AccessLog.Line request) {
    return time(at)
        + "  "
        + status(request.status())
        + " "
        + printable(request.method() + " " + request.route())
        + console.paint(
            Paint.DIM,
            "  "
                + request.millis()
                + " ms, key "
                + printable(request.key())
                + ", request "
                + request.requestId());
  }

  private String status(int status) {
    Paint paint = status >= 500 ? Paint.RED : status >= 400 ? Paint.YELLOW : Paint.GREEN;
    return console.paint(paint, Integer.toString(status));
  }

  private String time(Instant at) {
    return console.paint(Paint.DIM, TIME.format(at.atZone(zone)));
  }

  /** Further lines are indented, so that none of them looks like one of the log. */
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
