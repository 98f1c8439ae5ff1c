package dev.isola.host.cgroup;

import dev.isola.spi.LimitKind;
import java.nio.file.Path;
import java.util.Set;

/**
 * Where the groups of sandboxes go in a hierarchy, and what they can do there, as was tried.
 *
 * @param parent the group in which they are made
 */
record CgroupLocation(Hierarchy hierarchy, Path parent, Set<LimitKind> limits, boolean canFreeze) {
  CgroupLocation {
    limits = Set.copyOf(limits);
  }
}
