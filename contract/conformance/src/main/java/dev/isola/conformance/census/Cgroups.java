package dev.isola.conformance.census;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The control groups of every hierarchy there is, version 1 and 2. */
final class Cgroups {
  private final Scope scope;
  private final List<Thing> found = new ArrayList<>();

  private Cgroups(Scope scope) {
    this.scope = scope;
  }

  static List<Thing> find(Scope scope) {
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
    for (Path group : Proc.folders(folder)) {
      String name = root.relativize(group).toString();
      if (scope.named(name)) {
        found.add(new Thing(Thing.Kind.CGROUP, group.toString(), "cgroup " + group));
      }
      descend(root, group);
    }
  }
}
