package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.terminal.RawTerminal;
import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import dev.isola.spi.exec.TerminalSize;
import java.io.IOException;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola top}. */
@Command(
    name = "top",
    description = "Show the resource usage of running sandboxes until q or Ctrl-C.")
public final class TopCommand extends RemoteCommand {
  private static final int INTERVAL_SECONDS = 2;
  private static final String ALTERNATE_SCREEN = "\u001b[?1049h\u001b[?25l";
  private static final String NORMAL_SCREEN = "\u001b[?25h\u001b[?1049l";

  @Option(
      names = "--once",
      description = "Print the usage once; default if stdout is not a terminal.")
  private boolean once;

  public TopCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    UsageTable table = new UsageTable();
    if (console.json()) {
      console.print(
          Map.of("sandboxes", table.measure(isola).stream().map(UsageTable.Row::json).toList()));
      return ExitCodes.OK;
    }
    CliEnvironment.TtyStatus tty = context.environment().tty();
    if (once || !tty.in() || !tty.out()) {
      console.print(UsageTable.text(table.measure(isola), console.columns()));
      return ExitCodes.OK;
    }
    return live(isola, console, table);
  }

  private int live(Isola isola, Console console, UsageTable table) {
    List<UsageTable.Row> rows = table.measure(isola); // an error is printed on the normal screen
    CountDownLatch ended = new CountDownLatch(1);
    Thread restoreScreen = new Thread(() -> console.print(NORMAL_SCREEN), "isola-screen");
    Runtime.getRuntime().addShutdownHook(restoreScreen);
    try (RawTerminal terminal = RawTerminal.open()) {
      terminal.enterRawMode();
      console.print(ALTERNATE_SCREEN);
      Thread.ofPlatform().daemon().name("isola-keys").start(() -> awaitEnd(ended));
      String message = "";
      do {
        console.print(screen(terminal.size(), rows, message));
        if (ended.await(INTERVAL_SECONDS, TimeUnit.SECONDS)) {
          return ExitCodes.OK;
        }
        try {
          rows = table.measure(isola);
          message = "";
        } catch (IsolaException e) {
          message = CellFormat.text(e.problem().detail()); // the server may recover
        }
      } while (true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExitCodes.INTERRUPTED;
    } finally {
      console.print(NORMAL_SCREEN);
      try {
        Runtime.getRuntime().removeShutdownHook(restoreScreen);
      } catch (IllegalStateException e) {
        // The JVM is already shutting down.
      }
    }
  }

  /** Returns the whole screen, truncated to its size to prevent scrolling. */
  private static String screen(TerminalSize size, List<UsageTable.Row> rows, String message) {
    String head =
        rows.size()
            + " running  "
            + LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS)
            + "  q quits"
            + (message.isEmpty() ? "" : "  " + message);
    String lines =
        (head + "\n\n" + UsageTable.text(rows, size.columns()))
            .lines()
            .limit(size.rows())
            .map(line -> line.length() > size.columns() ? line.substring(0, size.columns()) : line)
            .map(line -> line + "\u001b[K")
            .collect(Collectors.joining("\r\n"));
    return "\u001b[H" + lines + "\u001b[J";
  }

  private void awaitEnd(CountDownLatch ended) {
    try {
      int key = context.environment().in().read();
      while (key >= 0 && key != 'q' && key != 'Q' && key != 3) {
        key = context.environment().in().read();
      }
    } catch (IOException e) {
      // Standard input is closed; exit.
    }
    ended.countDown();
  }
}
