package dev.isola.spi.spec;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Paths of a sandbox on which a client can mount nothing: the guest agent's, and those of the
 * kernel. A mount there would replace the agent, or what it believes about the machine.
 */
public final class ReservedPaths {
  /** The directories themselves; everything below them is reserved, too. */
  public static final List<String> ALL = List.of("/.isola", "/proc", "/dev", "/sys");

  private ReservedPaths() {}

  /**
   * Returns the path as the kernel reads it, with neither empty components nor {@code .}; one with
   * {@code ..} is refused elsewhere.
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

  /** Returns the reserved directory that {@code path} is, lies in or contains. */
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
