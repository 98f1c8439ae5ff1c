package dev.isola.host.cgroup;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The existing folders of one group, at most one per hierarchy.
 *
 * <p>A process that a service manager started in another group may have created them elsewhere, so
 * the whole tree is searched if none is at the expected location.
 */
record CgroupFolders(String name, List<Path> paths) {
  /** Bounds the recursion. */
  private static final int MAX_DEPTH = 24;

  CgroupFolders {
    paths = List.copyOf(paths);
  }

  static CgroupFolders find(String name, List<Hierarchy> hierarchies) {
    List<Path> found = new ArrayList<>();
    for (Hierarchy hierarchy : hierarchies) {
      if (hierarchy.isUsable()) {
        hierarchy.candidateParents().stream()
            .map(parent -> parent.resolve(name))
            .filter(Files::isDirectory)
            .findFirst()
            .ifPresent(found::add);
      }
    }
    if (found.isEmpty()) {
      for (Hierarchy hierarchy : hierarchies) {
        if (hierarchy.isUsable()) {
          search(hierarchy.mount(), name, 0, found);
        }
      }
    }
    return new CgroupFolders(name, found);
  }

  private static void search(Path folder, String name, int depth, List<Path> found) {
    for (Path child : children(folder)) {
      if (child.endsWith(name)) {
        found.add(child);
      } else if (depth < MAX_DEPTH) {
        search(child, name, depth + 1, found);
      }
    }
  }

  private static List<Path> children(Path folder) {
    List<Path> children = new ArrayList<>();
    if (!isLeaf(folder)) {
      File[] found = folder.toFile().listFiles(File::isDirectory);
      if (found != null) {
        for (File child : found) {
          children.add(child.toPath());
        }
      }
    }
    return children;
  }

  /**
   * Detects a group without children with a single call: the link count of a folder includes its
   * subfolders.
   */
  private static boolean isLeaf(Path folder) {
    try {
      return Files.getAttribute(folder, "unix:nlink").equals(2);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  boolean isEmpty() {
    return paths.isEmpty();
  }

  /** Returns the first of these files that exists in any of the folders. */
  Optional<Path> file(String... names) {
    for (String file : names) {
      for (Path path : paths) {
        if (Files.exists(path.resolve(file))) {
          return Optional.of(path.resolve(file));
        }
      }
    }
    return Optional.empty();
  }

  /** Returns the pids of all processes in the folders and their descendants. */
  Set<Long> members() {
    Set<Long> members = new LinkedHashSet<>();
    paths.forEach(path -> members(path, 0, members));
    return members;
  }

  private static void members(Path folder, int depth, Set<Long> members) {
    for (String pid : KernelFile.read(folder.resolve("cgroup.procs")).lines().toList()) {
      // Zero stands for a process outside this pid namespace.
      if (!pid.equals("0")) {
        members.add(Long.parseLong(pid));
      }
    }
    if (depth < MAX_DEPTH) {
      children(folder).forEach(child -> members(child, depth + 1, members));
    }
  }

  /** Reports whether a process is currently in one of the folders or their descendants. */
  boolean contains(long pid) {
    return KernelFile.read(Path.of("/proc", Long.toString(pid), "cgroup"))
        .lines()
        .anyMatch(line -> line.endsWith("/" + name) || line.contains("/" + name + "/"));
  }

  /** Removes the folders and their descendants. Throws if one of them still has a process. */
  void delete() throws IOException {
    for (Path path : paths) {
      delete(path, 0);
    }
  }

  private static void delete(Path folder, int depth) throws IOException {
    if (depth < MAX_DEPTH) {
      for (Path child : children(folder)) {
        delete(child, depth + 1);
      }
    }
    try {
      Files.delete(folder);
    } catch (NoSuchFileException gone) {
      // Removed concurrently.
    }
  }
}
