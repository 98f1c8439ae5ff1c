package dev.isola.codec.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory of the machine as {@code /proc/meminfo} reports it, in bytes; empty where the kernel does
 * not say.
 *
 * @param available what processes can have without swapping ({@code MemAvailable})
 */
public record MemoryInfo(OptionalLong total, OptionalLong available) {
  private static final Pattern TOTAL = field("MemTotal");
  private static final Pattern AVAILABLE = field("MemAvailable");

  private static Pattern field(String name) {
    return Pattern.compile("^" + name + ":\\s+(\\d{1,15}) kB$", Pattern.MULTILINE);
  }

  /** Reads the file of a {@code /proc}; a machine without it says nothing. */
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
