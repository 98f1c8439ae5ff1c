package dev.isola.host.cgroup;

import dev.isola.spi.LimitKind;
import java.nio.file.Path;
import java.util.Set;

/**
 * The location of sandboxes' groups in a hierarchy, with the features found by the probe.
 *
 * @param parent the group that contains them
 */
record CgroupLocation(Hierarchy hierarchy, Path parent, Set<LimitKind> limits, boolean canFreeze) {
  CgroupLocation {
    limits = Set.copyOf(limits);
  }
}
