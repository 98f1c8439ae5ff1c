package dev.isola.app.operate;

import dev.isola.app.cli.Console;
import dev.isola.app.cli.Console.Style;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.ProviderResult;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports the progress of the conformance kit: one line per class, failures as they happen. On a
 * terminal the line is updated while the class runs; in a pipe it is printed when the class
 * completes; with {@code --json} nothing is printed.
 */
final class ConformanceProgress {
  private static final String CLEAR = "\r\u001b[K";
  private static final int WIDTH = 12;

  private final Console console;
  private final boolean live;
  private String group = "";
  private int total;
  private final List<CheckResult> done = new ArrayList<>();

  ConformanceProgress(Console console, boolean terminal) {
    this.console = console;
    this.live = terminal && !console.json();
  }

  void provider(String name) {
    print(console.styled(Style.BOLD, name) + "\n");
  }

  void group(String name, int checks) {
    group = name;
    total = checks;
    done.clear();
    if (live) {
      print(line());
    }
  }

  void result(CheckResult result) {
    done.add(result);
    String again = live ? line() : "";
    String clear = live ? CLEAR : "";
    if (result.outcome() == Outcome.FAILED) {
      print(clear + resultLine(Style.RED, "FAILED", result) + again);
    } else if (result.outcome() == Outcome.NOT_RUN && console.verbose()) {
      print(clear + resultLine(Style.YELLOW, "NOT RUN", result) + again);
    } else if (!result.reason().isEmpty() && console.verbose()) {
      print(clear + resultLine(Style.GREEN, "passed", result) + again);
    } else if (live) {
      print(clear + again);
    }
  }

  void groupDone() {
    print((live ? CLEAR : "") + line() + "\n");
  }

  void providerDone(ProviderResult result) {
    String why =
        result.count(Outcome.NOT_RUN) > 0 && !console.verbose() ? " (-v prints the reasons)" : "";
    print(
        result.name()
            + ": "
            + result.count(Outcome.PASSED)
            + " passed, "
            + result.count(Outcome.FAILED)
            + " failed, "
            + result.count(Outcome.NOT_RUN)
            + " not run"
            + why
            + "\n");
  }

  private String resultLine(Style style, String verdict, CheckResult result) {
    return "  "
        + console.styled(style, verdict)
        + " "
        + result.id()
        + " ("
        + result.requirement()
        + "): "
        + plain(result.reason())
        + "\n";
  }

  private String line() {
    StringBuilder line = new StringBuilder("  ").append(group);
    line.repeat(' ', Math.max(1, WIDTH - group.length()));
    line.append(count(Outcome.PASSED)).append('/').append(total).append(" passed");
    if (count(Outcome.FAILED) > 0) {
      line.append(", ").append(console.styled(Style.RED, count(Outcome.FAILED) + " failed"));
    }
    if (count(Outcome.NOT_RUN) > 0) {
      line.append(", ").append(count(Outcome.NOT_RUN)).append(" not run");
    }
    return line.toString();
  }

  private long count(Outcome outcome) {
    return done.stream().filter(result -> result.outcome() == outcome).count();
  }

  /** Replaces control characters, so that output of a sandbox cannot control the terminal. */
  private static String plain(String text) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      line.append(c == '\n' || c == '\t' ? ' ' : Character.isISOControl(c) ? '?' : c);
    }
    return line.toString();
  }

  private void print(String text) {
    if (!console.json()) {
      console.print(text);
    }
  }
}
