package dev.isola.codec.proc;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * State of a process as {@code /proc/PID/stat} reports it.
 *
 * @param state the kernel's letter: R, S, D, Z, T, X and others
 * @param threads how many of its threads are there
 * @param startTime in clock ticks since boot; tells two processes of one pid apart
 */
public record ProcessStat(char state, long parent, long session, int threads, long startTime) {
  /** Fields after the name, counted from the state. */
  private static final int PARENT = 1;

  private static final int SESSION = 3;
  private static final int THREADS = 17;
  private static final int START_TIME = 19;

  /** Reads the state of the process that a folder of {@code /proc} is about; empty when gone. */
  public static Optional<ProcessStat> read(Path process) {
    try {
      return parse(Files.readString(process.resolve("stat"), ISO_8859_1));
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /** Parses the text of such a file; empty for any other. The name in it may hold anything. */
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

  /** Whether its first thread has ended and waits to be reaped; others may still run. */
  public boolean isZombie() {
    return state == 'Z' || state == 'X';
  }
}
