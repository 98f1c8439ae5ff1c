package dev.isola.engine.admission;

import dev.isola.codec.proc.MemoryInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The current memory state of the machine. A value that the machine does not report is ignored, as
 * on kernels without pressure stall information and machines without {@code /proc}.
 *
 * @param availableMb memory available without swapping ({@code MemAvailable})
 * @param stalledPercent the share of the last ten seconds in which all tasks were stalled on memory
 *     ({@code full avg10} of {@code /proc/pressure/memory})
 */
public record MachineState(OptionalLong availableMb, OptionalDouble stalledPercent) {
  public static final MachineState UNKNOWN =
      new MachineState(OptionalLong.empty(), OptionalDouble.empty());

  private static final Pattern STALLED =
      Pattern.compile("^full avg10=(\\d{1,3}(?:\\.\\d{1,4})?) ", Pattern.MULTILINE);

  /** Reads the state from {@code proc}, normally {@code /proc}. */
  public static MachineState read(Path proc) {
    OptionalLong available = MemoryInfo.read(proc).available();
    Matcher stalled = STALLED.matcher(text(proc.resolve("pressure").resolve("memory")));
    return new MachineState(
        available.isPresent() ? OptionalLong.of(available.getAsLong() >> 20) : available,
        stalled.find()
            ? OptionalDouble.of(Double.parseDouble(stalled.group(1)))
            : OptionalDouble.empty());
  }

  /** Returns the content of a file; empty if the kernel does not have it or it is unreadable. */
  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException | UnsupportedOperationException absent) {
      return "";
    }
  }
}
