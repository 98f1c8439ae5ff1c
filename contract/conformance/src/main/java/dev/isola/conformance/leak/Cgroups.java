package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Control groups of every mounted hierarchy, versions 1 and 2. */
final class Cgroups {
  private final ScanScope scope;
  private final List<TrackedResource> found = new ArrayList<>();

  private Cgroups(ScanScope scope) {
    this.scope = scope;
  }

  static List<TrackedResource> find(ScanScope scope) {
    Cgroups cgroups = new Cgroups(scope);
    for (MountPoint mount : MountPoint.all()) {
      if (mount.type().equals("cgroup") || mount.type().equals("cgroup2")) {
        Path root = Path.of(mount.path());
        cgroups.descend(root, root);
      }
    }
    return cgroups.found;
  }

  private void descend(Path root, Path folder) {
    for (Path group : ProcFiles.folders(folder)) {
      String name = root.relativize(group).toString();
      if (scope.ownsName(name)) {
        found.add(
            new TrackedResource(TrackedResource.Kind.CGROUP, group.toString(), "cgroup " + group));
      }
      descend(root, group);
    }
  }
}
