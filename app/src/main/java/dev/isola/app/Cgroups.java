package dev.isola.app;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Where this process stands in the cgroups, controller by controller. On a hybrid machine some
 * controllers are of version 1 and some of version 2, so there is no answer for the machine as a
 * whole.
 *
 * @param controllers by name, such as {@code memory}
 */
record Cgroups(Layout layout, Map<String, Controller> controllers) {

  enum Layout {
    NONE,
    V1,
    V2,
    HYBRID
  }

  /**
   * @param version 1 or 2
   * @param folder the process's own group in that hierarchy
   */
  record Controller(int version, Path folder) {}

  private record Mount(boolean unified, Path point, String root, List<String> options) {}

  Cgroups {
    controllers = Map.copyOf(controllers);
  }

  /**
   * Reads the kernel's tables.
   *
   * @param mountinfo the text of /proc/self/mountinfo
   * @param membership the text of /proc/self/cgroup
   * @param read returns the text of a file, empty when it cannot be read; asked for the list of
   *     controllers of the unified hierarchy
   */
  static Cgroups parse(String mountinfo, String membership, Function<Path, String> read) {
    List<Mount> mounts = mounts(mountinfo);
    Map<String, Controller> controllers = new TreeMap<>();
    boolean old = false;
    boolean unified = false;
    for (String line : membership.lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length < 3) {
        continue;
      }
      if (parts[1].isEmpty()) {
        for (Mount mount : mounts) {
          if (mount.unified()) {
            unified = true;
            Path folder = folder(mount, parts[2]);
            for (String name : read.apply(folder.resolve("cgroup.controllers")).split("\\s+")) {
              if (!name.isEmpty()) {
                controllers.put(name, new Controller(2, folder));
              }
            }
          }
        }
      } else {
        for (String name : parts[1].split(",")) {
          for (Mount mount : mounts) {
            if (!mount.unified() && !name.startsWith("name=") && mount.options().contains(name)) {
              old = true;
              controllers.put(name, new Controller(1, folder(mount, parts[2])));
            }
          }
        }
      }
    }
    return new Cgroups(layout(old, unified), controllers);
  }

  private static Layout layout(boolean old, boolean unified) {
    if (old) {
      return unified ? Layout.HYBRID : Layout.V1;
    }
    return unified ? Layout.V2 : Layout.NONE;
  }

  /** Fields of a line: id parent device root point options (optional)* - type source options. */
  private static List<Mount> mounts(String mountinfo) {
    List<Mount> mounts = new ArrayList<>();
    for (String line : mountinfo.lines().toList()) {
      int dash = line.indexOf(" - ");
      if (dash < 0) {
        continue;
      }
      String[] left = line.substring(0, dash).split(" ");
      String[] right = line.substring(dash + 3).split(" ");
      if (left.length >= 5 && right.length >= 3 && right[0].startsWith("cgroup")) {
        mounts.add(
            new Mount(
                right[0].equals("cgroup2"),
                Path.of(left[4]),
                left[3],
                List.of(right[2].split(","))));
      }
    }
    return mounts;
  }

  /**
   * In a container the mount shows a part of the tree, and membership may be told from above it.
   */
  private static Path folder(Mount mount, String group) {
    String inside = group;
    if (!mount.root().equals("/")) {
      if (group.equals(mount.root())) {
        inside = "";
      } else if (group.startsWith(mount.root() + "/")) {
        inside = group.substring(mount.root().length());
      }
    }
    String relative = inside.startsWith("/") ? inside.substring(1) : inside;
    return relative.startsWith("..") ? mount.point() : mount.point().resolve(relative);
  }
}
