package dev.isola.codec.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory of the machine in bytes, as reported by {@code /proc/meminfo}; empty if not reported.
 *
 * @param available memory available to processes without swapping ({@code MemAvailable})
 */
public record MemoryInfo(OptionalLong total, OptionalLong available) {
  private static final Pattern TOTAL = field("MemTotal");
  private static final Pattern AVAILABLE = field("MemAvailable");

  private static Pattern field(String name) {
    return Pattern.compile("^" + name + ":\\s+(\\d{1,15}) kB$", Pattern.MULTILINE);
  }

  /**
   * Reads {@code meminfo} of a {@code /proc} file system. All values are empty if the file does not
   * exist.
   */
  public static MemoryInfo read(Path proc) {
    try {
      return parse(Files.readString(proc.resolve("meminfo")));
    } catch (IOException absent) {
      return parse("");
    }
  }

  public static MemoryInfo parse(String text) {
    return new MemoryInfo(bytes(TOTAL.matcher(text)), bytes(AVAILABLE.matcher(text)));
  }

  private static OptionalLong bytes(Matcher field) {
    return field.find()
        ? OptionalLong.of(Long.parseLong(field.group(1)) * 1024)
        : OptionalLong.empty();
  }
}
