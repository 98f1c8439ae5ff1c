package dev.isola.app.local;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Console;
import dev.isola.egress.Denial;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Prints each destination that a run was denied once, and only the first ones. */
final class DenialPrinter implements Consumer<Denial> {
  private static final int MAX_LINES = 20;

  private final Console console;
  private final Set<String> printed = ConcurrentHashMap.newKeySet();

  DenialPrinter(Console console) {
    this.console = console;
  }

  @Override
  public void accept(Denial denial) {
    String text =
        "denied "
            + denial.host()
            + ":"
            + denial.port()
            + (denial.request().isEmpty() ? "" : " " + denial.request())
            + ": "
            + denial.reason();
    if (printed.size() < MAX_LINES && printed.add(text)) {
      console.printErr(CellFormat.text(text));
    }
  }
}
