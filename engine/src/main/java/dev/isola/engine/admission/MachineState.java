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
 * What the machine says of itself now. What it does not say does not count: kernels without
 * pressure stall information, machines without {@code /proc}.
 *
 * @param availableMb memory that can be had without swapping ({@code MemAvailable})
 * @param stalledPercent the share of the last ten seconds in which all tasks waited for memory
 *     ({@code full avg10} of {@code /proc/pressure/memory})
 */
public record MachineState(OptionalLong availableMb, OptionalDouble stalledPercent) {
  public static final MachineState UNKNOWN =
      new MachineState(OptionalLong.empty(), OptionalDouble.empty());

  private static final Pattern STALLED =
      Pattern.compile("^full avg10=(\\d{1,3}(?:\\.\\d{1,4})?) ", Pattern.MULTILINE);

  /** Reads it from the files of the kernel, {@code /proc} as a rule. */
  public static MachineState read(Path proc) {
    OptionalLong available = MemoryInfo.read(proc).available();
    Matcher stalled = STALLED.matcher(text(proc.resolve("pressure").resolve("memory")));
    return new MachineState(
        available.isPresent() ? OptionalLong.of(available.getAsLong() >> 20) : available,
        stalled.find()
            ? OptionalDouble.of(Double.parseDouble(stalled.group(1)))
            : OptionalDouble.empty());
  }

  /** A kernel without it has no such file, or one that cannot be read. */
  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException | UnsupportedOperationException absent) {
      return "";
    }
  }
}
