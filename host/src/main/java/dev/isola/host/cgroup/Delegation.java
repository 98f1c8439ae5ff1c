package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Hands controllers of the unified hierarchy to the groups beneath one.
 *
 * <p>A group that has processes of its own cannot do that, unless it is the root: the kernel
 * refuses some controllers, and gives others in a way that lets nobody join the groups beneath.
 * When it is our own, its processes are moved into a leaf first. That is done only to a group that
 * was given to us: the top of what a container sees, or one that we may write to without being
 * root.
 */
record Delegation(Hierarchy hierarchy, Path parent) {
  static final String LEAF = "isola-server";
  private static final int ROUNDS = 10;

  /** Tells whether groups beneath the parent have the controller now, and can be joined. */
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

  /** The root, which may have processes and groups, is the one without a type. */
  private boolean hasProcesses() {
    return Files.exists(parent.resolve("cgroup.type"))
        && !KernelFile.read(parent.resolve("cgroup.procs")).isEmpty();
  }

  private boolean isDelegatedToServer() {
    return parent.equals(hierarchy.ownGroup())
        && (parent.equals(hierarchy.mount()) || !ServerUser.isRoot());
  }

  /** Tells whether nobody is left in the parent. What is forked meanwhile takes another round. */
  private boolean moveProcesses() {
    Path leaf = parent.resolve(LEAF);
    try {
      Files.createDirectory(leaf);
    } catch (FileAlreadyExistsException e) {
      // Of an earlier process of ours.
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
