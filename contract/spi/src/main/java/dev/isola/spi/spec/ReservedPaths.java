package dev.isola.spi.spec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Paths in a sandbox that a client cannot mount over: those of the guest agent and of the kernel. A
 * mount there could replace the agent, or falsify what the agent reads about the machine.
 */
public final class ReservedPaths {
  /** The reserved folders. Everything beneath them is reserved as well. */
  public static final List<String> ALL = List.of("/.isola", "/proc", "/dev", "/sys");

  private ReservedPaths() {}

  /**
   * Returns the path as the kernel resolves it, without empty components and {@code .}. A path with
   * {@code ..} is rejected before.
   */
  static String normalize(String path) {
    List<String> components = new ArrayList<>();
    for (String component : path.split("/")) {
      if (!component.isEmpty() && !component.equals(".")) {
        components.add(component);
      }
    }
    return "/" + String.join("/", components);
  }

  /** Returns the reserved folder that {@code path} equals, lies beneath or contains. */
  static Optional<String> overlapping(String path) {
    String mount = slashed(normalize(path));
    return ALL.stream()
        .filter(one -> mount.startsWith(slashed(one)) || slashed(one).startsWith(mount))
        .findFirst();
  }

  private static String slashed(String path) {
    return path.endsWith("/") ? path : path + "/";
  }
}
