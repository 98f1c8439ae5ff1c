package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Enables controllers of the unified hierarchy for the children of a group.
 *
 * <p>A group with processes of its own cannot do that unless it is the root: the kernel refuses
 * some controllers and enables others such that no process can join the children. If the group is
 * the one of this process, its processes are first moved to a leaf group. This is done only for a
 * group that was delegated to the server: the topmost group visible in a container, or one that is
 * writable without root.
 */
record Delegation(Hierarchy hierarchy, Path parent) {
  static final String LEAF = "isola-server";
  private static final int ROUNDS = 10;

  /** Enables a controller. Returns whether the children of the parent have it and can be joined. */
  boolean grant(String controller) {
    Path granted = parent.resolve("cgroup.subtree_control");
    boolean has = KernelFile.words(granted).contains(controller);
    if (!has && !KernelFile.words(parent.resolve("cgroup.controllers")).contains(controller)) {
      return false;
    }
    if (hasProcesses() && !(isDelegatedToServer() && moveProcesses())) {
      return false;
    }
    return has || KernelFile.tryWrite(granted, "+" + controller);
  }

  /** Only the root, which can have both processes and children, has no {@code cgroup.type}. */
  private boolean hasProcesses() {
    return Files.exists(parent.resolve("cgroup.type"))
        && !KernelFile.read(parent.resolve("cgroup.procs")).isEmpty();
  }

  private boolean isDelegatedToServer() {
    return parent.equals(hierarchy.ownGroup())
        && (parent.equals(hierarchy.mount()) || !ServerUser.isRoot());
  }

  /**
   * Moves all processes to the leaf; returns whether none is left. Concurrent forks take another
   * round.
   */
  private boolean moveProcesses() {
    Path leaf = parent.resolve(LEAF);
    try {
      Files.createDirectory(leaf);
    } catch (FileAlreadyExistsException e) {
      // Created by an earlier process.
    } catch (IOException e) {
      return false;
    }
    for (int round = 0; round < ROUNDS; round++) {
      String processes = KernelFile.read(parent.resolve("cgroup.procs"));
      if (processes.isEmpty()) {
        return true;
      }
      processes.lines().forEach(pid -> KernelFile.tryWrite(leaf.resolve("cgroup.procs"), pid));
    }
    return false;
  }
}
