package dev.isola.engine.api.template;

import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogEntry.Level;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * The log of a running build. Its size is bounded, because commands write to it; the line that
 * reports the result of the build is always kept.
 */
final class BuildLog implements BuildLogWriter, AutoCloseable {
  static final int MOST_LINES = 100_000;
  static final long MOST_BYTES = 16L << 20;
  static final int LONGEST_LINE = 4096;

  private final OutputStream out;
  private final InstantSource clock;
  private long lines;
  private long bytes;
  private boolean full;
  private boolean closed;

  /**
   * @param out the file; each line is written immediately
   */
  BuildLog(OutputStream out, InstantSource clock) {
    this.out = out;
    this.clock = clock;
  }

  @Override
  public synchronized void line(Level level, String message, Optional<Integer> step) {
    if (full) {
      return;
    }
    if (lines >= MOST_LINES || bytes >= MOST_BYTES) {
      full = true;
      write(Level.WARN, "the log is full; further lines are discarded", Optional.empty());
    } else {
      write(level, message, step);
    }
  }

  /** Writes the last line, even if the log is full. */
  synchronized void end(Level level, String message, Optional<Integer> step) {
    if (!closed) {
      write(level, message, step);
    }
  }

  private void write(Level level, String message, Optional<Integer> step) {
    if (closed) {
      return;
    }
    String bounded =
        message.length() > LONGEST_LINE ? message.substring(0, LONGEST_LINE) + "..." : message;
    byte[] line = BuildLogFormat.write(new BuildLogEntry(clock.instant(), level, step, bounded));
    try {
      out.write(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    lines++;
    bytes += line.length;
    notifyAll();
  }

  /** Returns the number of complete lines. */
  synchronized long lines() {
    return lines;
  }

  /** Waits until line {@code number}, starting at 0, exists or the log is closed. */
  synchronized boolean await(long number, Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.in(timeout);
    while (lines <= number && !closed) {
      if (deadline.over()) {
        return false;
      }
      wait(deadline.left().toMillis());
    }
    return true;
  }

  /** Closes the log; no line follows. */
  @Override
  public synchronized void close() throws IOException {
    closed = true;
    notifyAll();
    out.close();
  }
}
