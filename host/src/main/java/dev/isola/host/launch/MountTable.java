package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The mounts of a process according to {@code /proc/PID/mountinfo}. */
record MountTable(List<String> lines) {
  private static final int ID = 0;
  private static final int POINT = 4;
  private static final int OPTIONS = 5;

  static MountTable of(long pid) throws IOException {
    return new MountTable(
        Files.readAllLines(Path.of("/proc", Long.toString(pid), "mountinfo"), ISO_8859_1));
  }

  /**
   * Returns the id of the topmost mount at a path, which is the last one listed.
   *
   * @throws IOException if nothing is mounted there
   */
  String topmost(String path) throws IOException {
    String escapedPath = new String(escaped(path).getBytes(UTF_8), ISO_8859_1);
    return lines.stream()
        .map(line -> line.split(" "))
        .filter(fields -> fields.length > POINT && fields[POINT].equals(escapedPath))
        .map(fields -> fields[ID])
        .reduce((covered, above) -> above)
        .orElseThrow(() -> new IOException("nothing is mounted at " + path));
  }

  /**
   * Reports whether the mount that has a file is read-only. The JDK's file stores do not tell: of
   * several mounts of one file system they report the first above the file, such as {@code /proc}
   * for a read-only {@code /proc/sys} in a container.
   *
   * @param path absolute, without links
   */
  boolean isReadOnly(String path) {
    String escapedPath = new String(escaped(path).getBytes(UTF_8), ISO_8859_1);
    return lines.stream()
        .map(line -> line.split(" "))
        .filter(fields -> fields.length > OPTIONS && contains(fields[POINT], escapedPath))
        .reduce((a, b) -> b[POINT].length() < a[POINT].length() ? a : b)
        .filter(fields -> List.of(fields[OPTIONS].split(",")).contains("ro"))
        .isPresent();
  }

  private static boolean contains(String point, String path) {
    return path.equals(point) || path.startsWith(point.endsWith("/") ? point : point + "/");
  }

  /** Escapes separators as the kernel does. */
  private static String escaped(String path) {
    return path.replace("\\", "\\134")
        .replace(" ", "\\040")
        .replace("\t", "\\011")
        .replace("\n", "\\012");
  }
}
