package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.BuildLogEntry;
import java.time.Instant;
import java.util.Optional;

/**
 * The format of a line in a log file: time in milliseconds, level, step number or 0, and message,
 * separated by tabs.
 */
final class BuildLogFormat {
  private BuildLogFormat() {}

  static byte[] write(BuildLogEntry line) {
    String text =
        line.at().toEpochMilli()
            + "\t"
            + line.level()
            + "\t"
            + line.step().orElse(0)
            + "\t"
            + line.message().replace('\n', ' ').replace('\r', ' ')
            + "\n";
    return text.getBytes(UTF_8);
  }

  /** Parses a line. A line that a crash cut off is returned as a plain message. */
  static BuildLogEntry read(String text) {
    String[] fields = text.split("\t", 4);
    try {
      if (fields.length == 4) {
        int step = Integer.parseInt(fields[2]);
        return new BuildLogEntry(
            Instant.ofEpochMilli(Long.parseLong(fields[0])),
            BuildLogEntry.Level.valueOf(fields[1]),
            step > 0 ? Optional.of(step) : Optional.empty(),
            fields[3]);
      }
    } catch (IllegalArgumentException damaged) {
      // return the line as is
    }
    return new BuildLogEntry(Instant.EPOCH, BuildLogEntry.Level.WARN, Optional.empty(), text);
  }
}
