package dev.isola.host.cgroup;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Control groups left behind by a process that was killed. */
final class StaleCgroups {
  private StaleCgroups() {}

  /**
   * Removes empty groups with matching names that are older than {@code age}. A group that cannot
   * be removed is left.
   */
  static void remove(List<Hierarchy> hierarchies, Predicate<String> names, Duration age) {
    for (String name : stale(hierarchies, names, age)) {
      CgroupFolders folders = CgroupFolders.find(name, hierarchies);
      try {
        if (folders.members().isEmpty()) {
          folders.delete();
        }
      } catch (IOException joinedMeanwhile) {
        // The kernel refuses to remove a group that has processes.
      }
    }
  }

  /** Relies on the modification time of a group's folder, which is the time of its creation. */
  private static Set<String> stale(
      List<Hierarchy> hierarchies, Predicate<String> names, Duration age) {
    long before = System.currentTimeMillis() - age.toMillis();
    Set<String> found = new TreeSet<>();
    for (Hierarchy hierarchy : hierarchies) {
      for (Path parent : hierarchy.isUsable() ? hierarchy.candidateParents() : List.<Path>of()) {
        File[] matches =
            parent
                .toFile()
                .listFiles(file -> names.test(file.getName()) && file.lastModified() <= before);
        for (File file : matches == null ? new File[0] : matches) {
          found.add(file.getName());
        }
      }
    }
    return found;
  }
}
