package dev.isola.codec.proc;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The state of a process, as reported by {@code /proc/PID/stat}.
 *
 * @param state the state letter of the kernel: R, S, D, Z, T, X and others
 * @param threads the number of threads
 * @param startTime in clock ticks since boot; distinguishes processes that reuse a pid
 */
public record ProcessStat(char state, long parent, long session, int threads, long startTime) {
  /** Indexes of the fields after the process name, starting at the state. */
  private static final int PARENT = 1;

  private static final int SESSION = 3;
  private static final int THREADS = 17;
  private static final int START_TIME = 19;

  /**
   * Reads the state of the process with this {@code /proc/PID} folder. Returns empty if the process
   * is gone.
   */
  public static Optional<ProcessStat> read(Path process) {
    try {
      return parse(Files.readString(process.resolve("stat"), ISO_8859_1));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /**
   * Parses the content of a stat file. Returns empty if it is malformed. The process name may
   * contain any character.
   */
  static Optional<ProcessStat> parse(String text) {
    int end = text.lastIndexOf(") ");
    String[] fields = text.substring(end < 0 ? text.length() : end + 2).split(" ");
    if (fields.length <= START_TIME || fields[0].length() != 1) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new ProcessStat(
              fields[0].charAt(0),
              Long.parseLong(fields[PARENT]),
              Long.parseLong(fields[SESSION]),
              Integer.parseInt(fields[THREADS]),
              Long.parseLong(fields[START_TIME])));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns whether the main thread has ended and waits to be reaped. Other threads may still run.
   */
  public boolean isZombie() {
    return state == 'Z' || state == 'X';
  }
}
