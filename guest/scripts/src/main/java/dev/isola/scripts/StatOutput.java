package dev.isola.scripts;

import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.time.Instant;
import java.util.Optional;

/**
 * Parses what {@link FileScripts#STAT} prints: the path, a NUL, fields, and the target of a link.
 */
public final class StatOutput {
  private static final int FIELDS = 8;

  private StatOutput() {}

  public static Optional<FileInfo> parse(String output) {
    int nul = output.indexOf('\0');
    int line = output.indexOf('\n', Math.max(0, nul));
    if (nul < 0 || line < 0) {
      return Optional.empty();
    }
    String[] fields = output.substring(nul + 1, line).split("/", -1);
    if (fields.length != FIELDS) {
      return Optional.empty();
    }
    FileType type = type(fields[0]);
    String target = output.substring(line + 1);
    try {
      return Optional.of(
          new FileInfo(
              output.substring(0, nul),
              type,
              Integer.parseInt(fields[1], 8),
              Long.parseLong(fields[2]),
              Long.parseLong(fields[3]),
              Long.parseLong(fields[4]),
              fields[5],
              fields[6],
              Instant.ofEpochSecond(Long.parseLong(fields[7])),
              type == FileType.LINK && target.endsWith("\n")
                  ? Optional.of(target.substring(0, target.length() - 1))
                  : Optional.empty()));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static FileType type(String name) {
    return switch (name) {
      case "regular file", "regular empty file" -> FileType.FILE;
      case "directory" -> FileType.FOLDER;
      case "symbolic link" -> FileType.LINK;
      default -> FileType.OTHER;
    };
  }
}
