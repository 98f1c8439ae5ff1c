package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The user that this process runs as. */
final class ServerUser {
  private ServerUser() {}

  static boolean isRoot() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
