package dev.isola.provider.e2b.exec;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import java.util.Map;

/** Parses the exit status of a process, which envd reports in Go's format. */
final class ExitParser {
  private static final String SIGNAL = "signal: ";
  private static final Map<String, Integer> SIGNALS =
      Map.ofEntries(
          Map.entry("hangup", 1),
          Map.entry("interrupt", 2),
          Map.entry("quit", 3),
          Map.entry("illegal instruction", 4),
          Map.entry("trace/breakpoint trap", 5),
          Map.entry("aborted", 6),
          Map.entry("bus error", 7),
          Map.entry("floating point exception", 8),
          Map.entry("killed", 9),
          Map.entry("user defined signal 1", 10),
          Map.entry("segmentation fault", 11),
          Map.entry("user defined signal 2", 12),
          Map.entry("broken pipe", 13),
          Map.entry("alarm clock", 14),
          Map.entry("terminated", 15),
          Map.entry("stack fault", 16),
          Map.entry("CPU time limit exceeded", 24),
          Map.entry("file size limit exceeded", 25),
          Map.entry("bad system call", 31));

  private ExitParser() {}

  static Exit parse(JsonValue end) {
    String status = end.text("status");
    if (!status.startsWith(SIGNAL)) {
      return new Exit.Exited((int) end.number("exitCode"));
    }
    String name = status.substring(SIGNAL.length()).replaceFirst(" \\(core dumped\\)$", "");
    String number = name.replaceFirst("^signal ", "");
    int signal =
        SIGNALS.getOrDefault(name, number.matches("[0-9]{1,2}") ? Integer.parseInt(number) : 0);
    return signal >= 1 && signal <= 64
        ? new Exit.Signaled(new Signal(signal))
        : new Exit.Exited(128);
  }
}
