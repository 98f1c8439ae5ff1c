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
 * The folders of one group that are there, at most one in each hierarchy.
 *
 * <p>Another process may have made them, elsewhere than we would: one that a service manager
 * started in another group. So when none is where we would look they are looked for everywhere.
 */
record CgroupFolders(String name, List<Path> paths) {
  /** A tree that never ends must not keep us forever. */
  private static final int MAX_DEPTH = 24;

  CgroupFolders {
    paths = List.copyOf(paths);
  }

  static CgroupFolders find(String name, List<Hierarchy> hierarchies) {
    List<Path> found = new ArrayList<>();
    for (Hierarchy hierarchy : hierarchies) {
      if (hierarchy.isUsable()) {
        hierarchy.candidateParents().stream()
            .map(spot -> spot.resolve(name))
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

  /** Tells by one look instead of one for each file: a folder has a link from each in it. */
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

  /** Returns the first that there is of these files, in any of the folders. */
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

  /** Returns the pids of everybody in any of the folders or beneath. */
  Set<Long> members() {
    Set<Long> members = new LinkedHashSet<>();
    paths.forEach(path -> members(path, 0, members));
    return members;
  }

  private static void members(Path folder, int depth, Set<Long> members) {
    for (String pid : KernelFile.read(folder.resolve("cgroup.procs")).lines().toList()) {
      // Zero is somebody whom our pid namespace cannot name.
      if (!pid.equals("0")) {
        members.add(Long.parseLong(pid));
      }
    }
    if (depth < MAX_DEPTH) {
      children(folder).forEach(child -> members(child, depth + 1, members));
    }
  }

  /** Tells whether this process is in one of the folders or beneath, now. */
  boolean contains(long pid) {
    return KernelFile.read(Path.of("/proc", Long.toString(pid), "cgroup"))
        .lines()
        .anyMatch(line -> line.endsWith("/" + name) || line.contains("/" + name + "/"));
  }

  /** Removes the folders and what is beneath. Throws when somebody is still in one of them. */
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
      // Somebody else was faster.
    }
  }
}
