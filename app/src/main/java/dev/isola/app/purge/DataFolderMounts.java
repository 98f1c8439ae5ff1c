package dev.isola.app.purge;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The mounts and loop devices that use a data folder. They are never Isola's: it mounts in the
 * namespaces of sandboxes only, and its loop devices end with their last mount. A purge lists them
 * and leaves them.
 *
 * @param data the real path of the data folder
 */
record DataFolderMounts(Path data) {
  private static final int MOUNT_POINT = 4;

  /** Returns the paths at or beneath the data folder at which something is mounted. */
  List<String> mounts() {
    List<String> mounts = new ArrayList<>();
    for (String line : lines(Path.of("/proc/self/mountinfo"))) {
      String[] fields = line.split(" ", MOUNT_POINT + 2);
      if (fields.length > MOUNT_POINT && Path.of(unescape(fields[MOUNT_POINT])).startsWith(data)) {
        mounts.add(unescape(fields[MOUNT_POINT]));
      }
    }
    return mounts;
  }

  /** Returns the loop devices whose file is in the data folder. */
  List<String> loopDevices() {
    List<String> devices = new ArrayList<>();
    String[] names = Path.of("/sys/block").toFile().list();
    for (String name : names == null ? new String[0] : names) {
      List<String> file = lines(Path.of("/sys/block", name, "loop/backing_file"));
      if (!file.isEmpty() && Path.of(file.getFirst()).startsWith(data)) {
        devices.add("/dev/" + name);
      }
    }
    return devices;
  }

  /** Decodes the octal escapes of the kernel for whitespace and backslashes. */
  private static String unescape(String text) {
    return text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }

  private static List<String> lines(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException gone) {
      return List.of();
    }
  }
}
