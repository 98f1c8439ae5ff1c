package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Processor time of a process and of the children that it has waited for. */
final class ProcessorTime {
  private static final double TICKS = 100; // sysconf(_SC_CLK_TCK) of Linux
  private static final Pattern MINUTES = Pattern.compile("([0-9]+)m([0-9.]+)s");

  private ProcessorTime() {}

  /** Returns the seconds of a process until now; 0 if it has ended. */
  static double of(long pid) {
    String text;
    try {
      text = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    } catch (IOException e) {
      return 0; // it has ended, before the file was opened or before it was read
    }
    // The name of the program may contain spaces; the state follows it.
    String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
    long ticks = 0;
    for (int i = 11; i <= 14; i++) {
      ticks += Long.parseLong(fields[i]);
    }
    return ticks / TICKS;
  }

  /** Returns a command that runs the other and leaves its times in {@code file}. */
  static List<String> recorded(List<String> command, Path file) {
    List<String> all =
        new ArrayList<>(
            List.of("sh", "-c", "\"$@\"; status=$?; times >\"$0\"; exit $status", file.toString()));
    all.addAll(command);
    return all;
  }

  /** Returns the seconds that a command of {@link #recorded} took. */
  static double of(Path file) throws IOException {
    return MINUTES
        .matcher(Files.exists(file) ? Files.readString(file) : "")
        .results()
        .mapToDouble(ProcessorTime::seconds)
        .sum();
  }

  private static double seconds(MatchResult time) {
    return Integer.parseInt(time.group(1)) * 60 + Double.parseDouble(time.group(2));
  }
}
