package dev.isola.host.cgroup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A mounted tree of control groups.
 *
 * @param unified whether it is of version 2
 * @param mount the topmost group that can be seen
 * @param own the group this process is in
 * @param controllers those that it has or, of version 2, that some group on the way to ours has
 */
record Hierarchy(boolean unified, Path mount, Path ownGroup, Set<String> controllers) {
  Hierarchy {
    controllers = Set.copyOf(controllers);
  }

  boolean has(String controller) {
    return controllers.contains(controller);
  }

  /** Tells whether it is good for anything here. */
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
   * Returns whether a runtime in the sandbox looks for it: the JDK reads no limit of version 1
   * unless it finds the groups of all these controllers.
   */
  boolean isShownInSandbox() {
    return !unified && (has("memory") || has("cpu") || has("cpuset") || has("cpuacct"));
  }

  /**
   * Returns the groups in which one for a sandbox may be made: from the top down to our own.
   *
   * <p>The higher the better: it is then the same for every process of an installation, whatever
   * group a service manager started it in, and does not end with that group. The leaf that we moved
   * ourselves into is none of them.
   */
  List<Path> candidateParents() {
    List<Path> spots = new ArrayList<>();
    spots.add(mount);
    if (ownGroup.startsWith(mount)) {
      Path spot = mount;
      for (Path name : mount.relativize(ownGroup)) {
        if (name.toString().equals(Delegation.LEAF)) {
          break;
        }
        if (!name.toString().isEmpty()) {
          spot = spot.resolve(name);
          spots.add(spot);
        }
      }
    }
    return spots;
  }
}
