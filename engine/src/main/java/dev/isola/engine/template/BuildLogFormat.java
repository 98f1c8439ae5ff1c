package dev.isola.engine.template;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.BuildLogEntry;
import java.time.Instant;
import java.util.Optional;

/**
 * A line in the file of a log: the time in milliseconds, the level, the number of the step or 0,
 * and the message, with a tab between them.
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

  /** Reads a line; one that was cut off by a crash is a message as it is. */
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
      // shown as it is
    }
    return new BuildLogEntry(Instant.EPOCH, BuildLogEntry.Level.WARN, Optional.empty(), text);
  }
}
