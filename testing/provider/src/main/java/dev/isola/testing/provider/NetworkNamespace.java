package dev.isola.testing.provider;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a program in a new network namespace that has only a loopback interface. */
final class NetworkNamespace {
  private static final List<String> WRAPPER =
      isRoot()
          ? List.of("unshare", "--net")
          : List.of("unshare", "--user", "--map-current-user", "--net");
  private static final boolean AVAILABLE = works();

  private NetworkNamespace() {}

  static List<String> wrapper() {
    return WRAPPER;
  }

  /** Returns whether the user of this JVM can create one. */
  static boolean available() {
    return AVAILABLE;
  }

  private static boolean isRoot() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean works() {
    List<String> words = new ArrayList<>(WRAPPER);
    words.add("true");
    try {
      HostCommand.run(words);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
