package dev.isola.host.cgroup;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.File;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The groups of sandboxes of all installations, recognized by their names. */
final class CgroupNames {
  private static final Pattern NAME = Pattern.compile("isola-([a-z0-9]{1,32})-([a-z0-9]{1,32})");

  /** Bounds the recursion. */
  private static final int MAX_DEPTH = 24;

  private CgroupNames() {}

  /** Returns the sandboxes that have a group in any of the hierarchies, by installation. */
  static Map<InstanceId, Set<SandboxId>> sandboxes(List<Hierarchy> hierarchies) {
    Map<InstanceId, Set<SandboxId>> found = new LinkedHashMap<>();
    for (Hierarchy hierarchy : hierarchies) {
      if (hierarchy.isUsable()) {
        search(
            hierarchy.mount().toFile(),
            0,
            (instance, id) -> found.computeIfAbsent(instance, _ -> new LinkedHashSet<>()).add(id));
      }
    }
    return found;
  }

  private static void search(File folder, int depth, BiConsumer<InstanceId, SandboxId> found) {
    File[] children = folder.listFiles(File::isDirectory);
    for (File child : children == null ? new File[0] : children) {
      Matcher name = NAME.matcher(child.getName());
      if (name.matches()) {
        found.accept(new InstanceId(name.group(1)), new SandboxId(name.group(2)));
      } else if (depth < MAX_DEPTH) {
        search(child, depth + 1, found);
      }
    }
  }
}
