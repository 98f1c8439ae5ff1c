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

  private final CliEnvironment environment;
  private final boolean json;
  private final boolean verbose;
  private final boolean color;
  private final boolean wide;

  public Console(CliEnvironment environment, boolean json, boolean verbose, String when) {
    this(environment, json, verbose, when, false);
  }

  /**
   * @param wide whether tables are as wide as their content
   */
  public Console(
      CliEnvironment environment, boolean json, boolean verbose, String when, boolean wide) {
    this.wide = wide;
    this.environment = environment;
    this.json = json;
    this.verbose = verbose;
    this.color = useColor(when, environment);
  }

  /** Returns a console that decides about color by standard error instead of standard output. */
  public static Console forStderr(CliEnvironment environment, String when) {
    CliEnvironment.TtyStatus now = environment.tty();
    CliEnvironment forErr =
        new CliEnvironment(
            environment.in(),
            environment.out(),
            environment.err(),
            new CliEnvironment.TtyStatus(now.in(), now.err(), now.err()),
            environment.variables(),
            environment.factories());
    return new Console(forErr, false, false, when);
  }

  private static boolean useColor(String when, CliEnvironment environment) {
    return switch (when) {
      case "always" -> true;
      case "never" -> false;
      case "auto" ->
          environment.tty().out()
              && environment.variables().getOrDefault("NO_COLOR", "").isEmpty()
              && !"dumb".equals(environment.variables().get("TERM"));
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
  public String styled(Style style, String text) {
    return color ? "\u001b[" + style.code + "m" + text + "\u001b[0m" : text;
  }

  /** Returns a check mark or a cross on a terminal, otherwise a word. */
  public String statusMark(boolean good) {
    if (!environment.tty().out() && !color) {
      return good ? "ok" : "no";
    }
    return good ? styled(Style.GREEN, "✓") : styled(Style.RED, "✗");
  }

  /** Returns the mark for an item that works but needs attention. */
  public String warningMark() {
    return !environment.tty().out() && !color ? "!!" : styled(Style.YELLOW, "!");
  }

  /**
   * Returns the width of the terminal, or no limit if standard output is not a terminal or {@code
   * --wide} is set.
   */
  public int columns() {
    if (wide || !environment.tty().out()) {
      return Integer.MAX_VALUE;
    }
    String setting = environment.variables().getOrDefault("COLUMNS", "");
    if (setting.matches("[1-9][0-9]{0,4}")) {
      return Integer.parseInt(setting);
    }
    return new NativeTerminal(1).size().map(TerminalSize::columns).orElse(Integer.MAX_VALUE);
  }

  /** Writes {@code text} to standard output, without adding a line break. */
  public void print(String text) {
    try {
      environment.out().write(text.getBytes(StandardCharsets.UTF_8));
      environment.out().flush();
    } catch (IOException closed) {
      // Standard output is closed; there is nowhere to report it.
    }
  }

  /** Writes one line to standard output. Returns false if standard output is closed. */
  public boolean tryPrint(String line) {
    try {
      environment.out().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      environment.out().flush();
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
    ErrorReport.writeLine(environment, line);
  }
}
