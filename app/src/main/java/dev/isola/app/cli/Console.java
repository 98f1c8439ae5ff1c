package dev.isola.app.cli;

import dev.isola.app.terminal.NativeTerminal;
import dev.isola.codec.json.Json;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Writes to the user or the calling program: results to standard output, messages to standard
 * error.
 */
public final class Console {
  /** A text style, by its ANSI code. */
  public enum Style {
    GREEN("32"),
    YELLOW("33"),
    RED("31"),
    BOLD("1"),
    DIM("2");

    private final String code;

    Style(String code) {
      this.code = code;
    }
  }

  private final CliEnvironment host;
  private final boolean json;
  private final boolean verbose;
  private final boolean color;

  public Console(CliEnvironment host, boolean json, boolean verbose, String when) {
    this.host = host;
    this.json = json;
    this.verbose = verbose;
    this.color = wantsColor(when, host);
  }

  /** Returns a console that decides about color by standard error instead of standard output. */
  public static Console forStderr(CliEnvironment host, String when) {
    CliEnvironment.TtyStatus now = host.tty();
    CliEnvironment other =
        new CliEnvironment(
            host.in(),
            host.out(),
            host.err(),
            new CliEnvironment.TtyStatus(now.in(), now.err(), now.err()),
            host.variables(),
            host.factories());
    return new Console(other, false, false, when);
  }

  private static boolean wantsColor(String when, CliEnvironment host) {
    return switch (when) {
      case "always" -> true;
      case "never" -> false;
      case "auto" ->
          host.tty().out()
              && host.variables().getOrDefault("NO_COLOR", "").isEmpty()
              && !"dumb".equals(host.variables().get("TERM"));
      default -> throw new UsageException("--color is '" + when + "'", "use auto, always or never");
    };
  }

  public boolean json() {
    return json;
  }

  public boolean verbose() {
    return verbose;
  }

  boolean color() {
    return color;
  }

  /** Returns {@code text} in the given style, or unchanged if color is off. */
  public String styled(Style paint, String text) {
    return color ? "\u001b[" + paint.code + "m" + text + "\u001b[0m" : text;
  }

  /** Returns a check mark or a cross on a terminal, otherwise a word. */
  public String statusMark(boolean good) {
    if (!host.tty().out() && !color) {
      return good ? "ok" : "no";
    }
    return good ? styled(Style.GREEN, "✓") : styled(Style.RED, "✗");
  }

  /** Returns the mark for an item that works but needs attention. */
  public String warningMark() {
    return !host.tty().out() && !color ? "!!" : styled(Style.YELLOW, "!");
  }

  /** Returns the width of the terminal, or no limit if standard output is not a terminal. */
  public int columns() {
    if (!host.tty().out()) {
      return Integer.MAX_VALUE;
    }
    String said = host.variables().getOrDefault("COLUMNS", "");
    if (said.matches("[1-9][0-9]{0,4}")) {
      return Integer.parseInt(said);
    }
    return new NativeTerminal(1).size().map(TerminalSize::columns).orElse(Integer.MAX_VALUE);
  }

  /** Writes {@code text} to standard output, without adding a line break. */
  public void print(String text) {
    try {
      host.out().write(text.getBytes(StandardCharsets.UTF_8));
      host.out().flush();
    } catch (IOException closed) {
      // Standard output is closed; there is nowhere to report it.
    }
  }

  /** Writes one line to standard output. Returns false if standard output is closed. */
  public boolean tryPrint(String line) {
    try {
      host.out().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      host.out().flush();
      return true;
    } catch (IOException closed) {
      return false;
    }
  }

  public void print(Map<String, ?> json) {
    print(Json.text(json) + "\n");
  }

  /** Writes one line to standard error. */
  public void printErr(String line) {
    ErrorReport.writeLine(host, line);
  }
}
