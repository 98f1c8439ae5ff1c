package dev.isola.link.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks that no file system is mounted in a directory that is about to be removed. */
final class NestedMountCheck {
  private static final Path TABLE = Path.of("/proc/self/mountinfo");
  private static final int MOUNT_POINT = 4;
  private static final Pattern ESCAPE = Pattern.compile("\\\\([0-7]{3})");

  private NestedMountCheck() {}

  /**
   * Throws if anything is mounted on or beneath {@code directory}.
   *
   * @throws IOException with the mount point
   */
  static void requireNone(Path directory) throws IOException {
    if (!Files.isReadable(TABLE)) {
      return; // not Linux, or no /proc
    }
    Path parent = directory.getParent();
    String real =
        parent == null
            ? directory.toString()
            : parent.toRealPath().resolve(directory.getFileName()).toString();
    String table = new String(Files.readAllBytes(TABLE), StandardCharsets.UTF_8);
    for (String line : table.split("\n")) {
      String[] fields = line.split(" ", MOUNT_POINT + 2);
      String point = fields.length > MOUNT_POINT ? unescape(fields[MOUNT_POINT]) : "";
      if (point.equals(real) || point.startsWith(real + "/")) {
        throw new IOException(
            "a file system is mounted at " + point + "; unmount it before " + real + " is removed");
      }
    }
  }

  private static String unescape(String field) {
    return field.indexOf('\\') < 0
        ? field
        : ESCAPE
            .matcher(field)
            .replaceAll(
                found ->
                    Matcher.quoteReplacement(
                        String.valueOf((char) Integer.parseInt(found.group(1), 8))));
  }
}
