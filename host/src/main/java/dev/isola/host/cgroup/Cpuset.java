package dev.isola.host.cgroup;

import java.nio.file.Path;
import java.util.List;

/**
 * CPUs and memory nodes of a version 1 group. A new group has none and cannot be joined until they
 * are set; in version 2 a group inherits them.
 */
final class Cpuset {
  private static final List<String> FILES = List.of("cpuset.cpus", "cpuset.mems");

  private Cpuset() {}

  /** Copies the CPUs and memory nodes of the parent. Returns whether the group can be joined. */
  static boolean inherit(Hierarchy hierarchy, Path parent, Path group) {
    return hierarchy.unified()
        || !hierarchy.has("cpuset")
        || FILES.stream()
            .allMatch(
                file ->
                    KernelFile.tryWrite(
                        group.resolve(file), KernelFile.read(parent.resolve(file))));
  }
}
