package dev.isola.host.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether files can be given to whom an archive says. */
final class Ownership {
  private static final long IDS_OF_AN_IMAGE = 65536;

  private Ownership() {}

  /** Root can, unless it is root of a user namespace that has hardly anybody else in it. */
  static boolean isPreserved() {
    return NativeSystem.isRoot() && mappedIds(Path.of("/proc/self/uid_map")) >= IDS_OF_AN_IMAGE;
  }

  /** Counts the ids from 0 on that there are here. */
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
