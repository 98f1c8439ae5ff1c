package dev.isola.conformance.leak;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads files of {@code /proc} and {@code /sys}, which may disappear at any time; a missing file
 * reads as empty.
 */
final class ProcFiles {
  private ProcFiles() {}

  static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (IOException gone) {
      return "";
    }
  }

  static List<String> lines(Path file) {
    return text(file).lines().toList();
  }

  static String link(Path file) {
    try {
      return Files.readSymbolicLink(file).toString();
    } catch (IOException gone) {
      return "";
    }
  }

  /** Returns the names in a folder, without keeping a descriptor open. */
  static List<String> names(Path folder) {
    String[] names = folder.toFile().list();
    return names == null ? List.of() : List.of(names);
  }

  /** Returns the folders in a folder, without symbolic links. */
  static List<Path> folders(Path folder) {
    File[] found = folder.toFile().listFiles(File::isDirectory);
    return found == null
        ? List.of()
        : List.of(found).stream()
            .map(File::toPath)
            .filter(path -> !Files.isSymbolicLink(path))
            .toList();
  }
}
