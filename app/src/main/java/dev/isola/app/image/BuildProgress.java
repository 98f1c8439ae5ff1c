package dev.isola.app.image;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Optional;

/**
 * Prints the progress of a build to standard error: a line for each step with its duration. On a
 * terminal the line of the running step is redrawn with the last line of its output.
 */
final class BuildProgress implements AutoCloseable {
  private static final int MAX_TAIL = 20;
  private static final int MAX_COMMAND = 100;
  private static final String CACHED = "CACHED ";
  private static final Duration REDRAW = Duration.ofMillis(500);

  private final CommandContext context;
  private final Console console;
  private final int steps;
  private final boolean live;
  private final Deque<String> tail = new ArrayDeque<>();
  private long step;
  private String command = "";
  private boolean cached;
  private String output = "";
  private long startNanos = System.nanoTime();
  private boolean running;
  private boolean closed;

  /**
   * @param steps the number of steps of the recipe
   */
  BuildProgress(CommandContext context, int steps) {
    this.context = context;
    this.steps = steps;
    this.console = context.console();
    this.live = context.environment().tty().err() && !console.json() && !console.verbose();
    if (live) {
      Thread _ = Thread.ofVirtual().name("isola-progress").start(this::redraw);
    }
  }

  /** Adds a line of the log. */
  synchronized void add(Optional<Long> number, String level, String message) {
    if (number.isPresent() && number.get() != step) {
      endStep("");
      step = number.get();
      cached = message.startsWith(CACHED);
      command = cached ? message.substring(CACHED.length()) : message;
      startNanos = System.nanoTime();
      running = true;
      tail.clear();
      output = "";
    } else if (number.isPresent()) {
      output = message;
      tail.add(message);
      if (tail.size() > MAX_TAIL) {
        tail.removeFirst();
      }
      if (console.verbose()) {
        write("   " + CellFormat.text(message) + "\n");
      }
    } else {
      endStep("");
      boolean warning = !level.equals("info");
      write((warning ? "warning: " : "") + CellFormat.text(message) + "\n");
    }
    draw();
  }

  /** Ends the line of the step that failed and prints the end of its output. */
  synchronized void fail() {
    endStep("failed, ");
    if (!console.verbose()) { // otherwise it is already printed
      tail.forEach(line -> write("   " + CellFormat.text(line) + "\n"));
    }
  }

  private void endStep(String how) {
    if (running) {
      running = false;
      write(line() + ": " + (cached ? "cached" : how + seconds()) + "\n");
    }
  }

  private String line() {
    String text = CellFormat.text(command);
    return "step "
        + step
        + " of "
        + steps
        + ": "
        + (text.length() > MAX_COMMAND ? text.substring(0, MAX_COMMAND) + "..." : text);
  }

  private String seconds() {
    return String.format(Locale.ROOT, "%.1f s", (System.nanoTime() - startNanos) / 1e9);
  }

  private void draw() {
    if (live && running && !closed) {
      String text = line() + "  " + seconds() + "  " + CellFormat.text(output);
      int columns = Math.max(20, Math.min(console.columns(), 200) - 1);
      write(text.length() > columns ? text.substring(0, columns) : text);
    }
  }

  private void redraw() {
    try {
      while (true) {
        synchronized (this) {
          if (closed) {
            return;
          }
          draw();
        }
        Thread.sleep(REDRAW);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(String text) {
    if (console.json()) {
      return;
    }
    try {
      String erased = live ? "\r\u001b[K" + text : text;
      context.environment().err().write(erased.getBytes(StandardCharsets.UTF_8));
      context.environment().err().flush();
    } catch (IOException e) {
      // Progress is optional.
    }
  }

  /** Ends the line of the last step. */
  @Override
  public synchronized void close() {
    endStep("");
    closed = true;
  }
}
