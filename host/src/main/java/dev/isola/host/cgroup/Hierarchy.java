package dev.isola.host.cgroup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A mounted tree of control groups.
 *
 * @param unified whether it is version 2
 * @param mount the topmost visible group
 * @param ownGroup the group of this process
 * @param controllers the controllers of the hierarchy or, in version 2, of any group on the path to
 *     {@code ownGroup}
 */
record Hierarchy(boolean unified, Path mount, Path ownGroup, Set<String> controllers) {
  Hierarchy {
    controllers = Set.copyOf(controllers);
  }

  boolean has(String controller) {
    return controllers.contains(controller);
  }

  /** Reports whether the hierarchy has a controller that sandboxes use. */
  boolean isUsable() {
    return unified
        || has("memory")
        || has("cpu")
        || has("cpuacct")
        || has("pids")
        || has("cpuset")
        || has("freezer")
        || has("blkio");
  }

  /**
   * Reports whether language runtimes in the sandbox read the hierarchy: the JDK reads version 1
   * limits only if it finds the groups of all these controllers.
   */
  boolean isShownInSandbox() {
    return !unified && (has("memory") || has("cpu") || has("cpuset") || has("cpuacct"));
  }

  /**
   * Returns the possible parents of a sandbox's group, from the top down to the group of this
   * process.
   *
   * <p>Higher groups are preferred: they are the same for all processes of an installation,
   * regardless of the group a service manager started them in, and they outlive that group. The
   * leaf that {@link Delegation} moves processes to is not included.
   */
  List<Path> candidateParents() {
    List<Path> parents = new ArrayList<>();
    parents.add(mount);
    if (ownGroup.startsWith(mount)) {
      Path parent = mount;
      for (Path name : mount.relativize(ownGroup)) {
        if (name.toString().equals(Delegation.LEAF)) {
          break;
        }
        if (!name.toString().isEmpty()) {
          parent = parent.resolve(name);
          parents.add(parent);
        }
      }
    }
    return parents;
  }
}
