package dev.isola.engine.usage;

import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.spec.ResourceLimits;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A resource whose usage is close to its limit.
 *
 * @param used the usage, in bytes or processes like {@code limit}
 */
record NearLimit(LimitKind resource, long used, long limit) {
  private static final long MEGABYTE = 1 << 20;

  double share() {
    return (double) used / limit;
  }

  /**
   * Returns the resources whose usage is at least {@code share} of the limit; unmeasured ones are
   * omitted.
   */
  static List<NearLimit> of(Usage usage, ResourceLimits limits, double share) {
    List<NearLimit> all = new ArrayList<>();
    all.add(new NearLimit(LimitKind.MEMORY, usage.memoryBytes(), limits.memoryMb() * MEGABYTE));
    usage
        .diskBytes()
        .ifPresent(
            bytes -> all.add(new NearLimit(LimitKind.DISK, bytes, limits.diskMb() * MEGABYTE)));
    all.add(new NearLimit(LimitKind.PROCESSES, usage.processes(), limits.processes()));
    all.removeIf(one -> one.share() < share);
    return all;
  }

  /** Returns the kinds of the given resources. */
  static Set<LimitKind> kinds(List<NearLimit> all) {
    Set<LimitKind> kinds = EnumSet.noneOf(LimitKind.class);
    all.forEach(one -> kinds.add(one.resource));
    return kinds;
  }
}
