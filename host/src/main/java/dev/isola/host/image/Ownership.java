package dev.isola.host.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether the owners named in an archive can be preserved. */
final class Ownership {
  private static final long IDS_OF_AN_IMAGE = 65536;

  private Ownership() {}

  /** Returns true for root, unless it is root of a user namespace with only a few ids. */
  static boolean isPreserved() {
    return NativeSystem.isRoot() && mappedIds(Path.of("/proc/self/uid_map")) >= IDS_OF_AN_IMAGE;
  }

  /** Returns the number of consecutive ids, starting at 0, that are mapped in this namespace. */
  static long mappedIds(Path map) {
    try {
      long end = 0;
      for (String line : Files.readAllLines(map)) {
        String[] words = line.strip().split("\\s+");
        if (Long.parseLong(words[0]) == end) {
          end += Long.parseLong(words[2]);
        }
      }
      return end;
    } catch (IOException | RuntimeException unknown) {
      return IDS_OF_AN_IMAGE;
    }
  }
}
