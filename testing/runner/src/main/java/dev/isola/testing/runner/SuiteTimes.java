package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long suites took the last time, by the clock and of processors. */
final class SuiteTimes {
  private record Time(double seconds, double processorSeconds) {}

  private final Map<String, Time> all = new HashMap<>();

  private SuiteTimes() {}

  /** Reads tables as {@link Report#writeSeconds} writes them; a later one replaces lines. */
  static SuiteTimes read(List<Path> tables) throws IOException {
    SuiteTimes times = new SuiteTimes();
    for (Path table : tables) {
      for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
        String[] cells = line.split("\t");
        times.all.put(
            cells[0], new Time(Double.parseDouble(cells[1]), Double.parseDouble(cells[2])));
      }
    }
    return times;
  }

  double seconds(String suite, double otherwise) {
    Time time = all.get(suite);
    return time == null ? otherwise : time.seconds();
  }

  double processorSeconds(String suite, double otherwise) {
    Time time = all.get(suite);
    return time == null ? otherwise : time.processorSeconds();
  }
}
