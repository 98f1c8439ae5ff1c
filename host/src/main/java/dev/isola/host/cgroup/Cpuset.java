package dev.isola.host.cgroup;

import java.nio.file.Path;
import java.util.List;

/**
 * Processors and memory nodes of a group of version 1, which has none when it is made and cannot be
 * joined before it has some. In version 2 a group has what its parent has.
 */
final class Cpuset {
  private static final List<String> FILES = List.of("cpuset.cpus", "cpuset.mems");

  private Cpuset() {}

  /** Gives a group what its parent has. Tells whether it can be joined. */
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
