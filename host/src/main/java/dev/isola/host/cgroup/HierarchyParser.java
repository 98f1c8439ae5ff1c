package dev.isola.host.cgroup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** Parses the kernel's tables of mounts and group membership into hierarchies. */
final class HierarchyParser {
  private record Mount(boolean unified, Path point, String root, List<String> options) {}

  private final List<Mount> mounts;
  private final Function<Path, String> read;
  private final Map<Path, Hierarchy> found = new LinkedHashMap<>();

  private HierarchyParser(List<Mount> mounts, Function<Path, String> read) {
    this.mounts = mounts;
    this.read = read;
  }

  /**
   * @param mountinfo the content of /proc/self/mountinfo
   * @param membership the content of /proc/self/cgroup
   * @param read returns the content of a file, or an empty string if it cannot be read; used for
   *     the controller lists of the unified hierarchy
   */
  static List<Hierarchy> hierarchies(
      String mountinfo, String membership, Function<Path, String> read) {
    HierarchyParser tables = new HierarchyParser(mounts(mountinfo), read);
    for (String line : membership.lines().toList()) {
      String[] parts = line.split(":", 3);
      if (parts.length < 3) {
        continue;
      }
      if (parts[1].isEmpty()) {
        tables.addUnified(parts[2]);
      } else {
        tables.addV1(List.of(parts[1].split(",")), parts[2]);
      }
    }
    return List.copyOf(tables.found.values());
  }

  private void addUnified(String group) {
    for (Mount mount : mounts) {
      if (mount.unified()) {
        Path ownGroup = folder(mount, group);
        Set<String> controllers = new TreeSet<>();
        Hierarchy bare = new Hierarchy(true, mount.point(), ownGroup, Set.of());
        for (Path parent : bare.candidateParents()) {
          for (String name : read.apply(parent.resolve("cgroup.controllers")).split("\\s+")) {
            if (!name.isEmpty()) {
              controllers.add(name);
            }
          }
        }
        found.put(mount.point(), new Hierarchy(true, mount.point(), ownGroup, controllers));
        return;
      }
    }
  }

  /**
   * Adds a version 1 hierarchy. Controllers that are mounted together share their groups and are
   * one hierarchy.
   */
  private void addV1(List<String> names, String group) {
    for (Mount mount : mounts) {
      if (!mount.unified() && mount.options().containsAll(names)) {
        found.put(
            mount.point(),
            new Hierarchy(false, mount.point(), folder(mount, group), Set.copyOf(names)));
        return;
      }
    }
  }

  /**
   * Fields of a line: id parent device root mountpoint options (optional)* - type source options.
   */
  private static List<Mount> mounts(String mountinfo) {
    List<Mount> mounts = new ArrayList<>();
    for (String line : mountinfo.lines().toList()) {
      int dash = line.indexOf(" - ");
      if (dash < 0) {
        continue;
      }
      String[] left = line.substring(0, dash).split(" ");
      String[] right = line.substring(dash + 3).split(" ");
      if (left.length >= 5
          && right.length >= 3
          && (right[0].equals("cgroup") || right[0].equals("cgroup2"))) {
        mounts.add(
            new Mount(
                right[0].equals("cgroup2"),
                Path.of(unescape(left[4])),
                unescape(left[3]),
                List.of(right[2].split(","))));
      }
    }
    return mounts;
  }

  /**
   * Returns the folder of a group. In a container the mount shows only part of the tree, and the
   * membership may be relative to a group above it.
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

  /** Reverses the kernel's octal escapes of blanks and backslashes. */
  private static String unescape(String text) {
    return text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
