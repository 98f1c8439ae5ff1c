package dev.isola.host.cgroup;

import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * A value to write to a file of a group.
 *
 * @param optional whether to skip it on a kernel without this file
 */
record CgroupSetting(String file, String value, boolean optional) {
  private static final long PERIOD_MICROS = 100_000;

  /**
   * The part of the memory limit that TCP buffers may use in addition to it. The kernel cannot
   * limit the sum.
   */
  private static final long TCP_SHARE = 4;

  /** The kernel accepts no smaller quota. */
  private static final long MIN_QUOTA_MICROS = 1_000;

  private CgroupSetting(String file, long value, boolean optional) {
    this(file, Long.toString(value), optional);
  }

  /** Returns the controller that enforces a limit. */
  static String controller(LimitKind kind) {
    return switch (kind) {
      case MEMORY -> "memory";
      case CPU -> "cpu";
      case THREADS -> "pids";
      case DISK, FILE_DESCRIPTORS, PROCESSES, BANDWIDTH, KERNEL_OBJECTS, TIMEOUT ->
          throw new IllegalArgumentException("control groups do not limit " + kind);
    };
  }

  /** Returns the settings for a limit, in the order in which they must be written. */
  static List<CgroupSetting> of(
      LimitKind kind, ResourceLimits limits, Hierarchy hierarchy, Path parent) {
    return switch (kind) {
      case MEMORY -> memory(bytes(limits.memoryMb()), hierarchy.unified());
      case CPU -> {
        long quota = Math.max(MIN_QUOTA_MICROS, (long) (limits.cpu() * PERIOD_MICROS));
        yield hierarchy.unified()
            ? List.of(new CgroupSetting("cpu.max", quota + " " + PERIOD_MICROS, false))
            : cpuV1(Math.min(quota, parentQuota(hierarchy.mount(), parent)));
      }
      case THREADS ->
          List.of(
              new CgroupSetting("pids.max", limits.threads() + ControlGroup.AGENT_THREADS, false));
      case DISK, FILE_DESCRIPTORS, PROCESSES, BANDWIDTH, KERNEL_OBJECTS, TIMEOUT ->
          throw new IllegalArgumentException("control groups do not limit " + kind);
    };
  }

  private static long bytes(long megabytes) {
    return Math.min(megabytes, Long.MAX_VALUE >> 20) << 20;
  }

  /**
   * Swap counts as memory; otherwise a limit would only slow the sandbox down. In version 1 the
   * limit of memory plus swap must not be below that of memory, so it is lifted first, and buffers
   * of TCP connections are not memory of the group unless they have a limit of their own.
   */
  private static List<CgroupSetting> memory(long bytes, boolean unified) {
    return unified
        ? List.of(
            new CgroupSetting("memory.max", bytes, false),
            new CgroupSetting("memory.swap.max", 0, true))
        : List.of(
            new CgroupSetting("memory.memsw.limit_in_bytes", -1, true),
            new CgroupSetting("memory.limit_in_bytes", bytes, false),
            new CgroupSetting("memory.memsw.limit_in_bytes", bytes, true),
            new CgroupSetting("memory.kmem.tcp.limit_in_bytes", bytes / TCP_SHARE, true));
  }

  private static List<CgroupSetting> cpuV1(long quota) {
    return List.of(
        new CgroupSetting("cpu.cfs_period_us", PERIOD_MICROS, false),
        new CgroupSetting("cpu.cfs_quota_us", quota, false));
  }

  /**
   * Returns the quota of the closest limited ancestor. Version 1 rejects a group with more than
   * that; version 2 applies the smaller one.
   */
  private static long parentQuota(Path mount, Path parent) {
    for (Path group = parent; group != null && group.startsWith(mount); group = group.getParent()) {
      OptionalLong quota = KernelFile.number(group.resolve("cpu.cfs_quota_us"));
      OptionalLong period = KernelFile.number(group.resolve("cpu.cfs_period_us"));
      if (quota.orElse(-1) > 0 && period.orElse(-1) > 0) {
        return quota.getAsLong() * PERIOD_MICROS / period.getAsLong();
      }
    }
    return Long.MAX_VALUE;
  }

  void write(Path group) throws IOException {
    Path path = group.resolve(file);
    if (!optional || Files.exists(path)) {
      KernelFile.write(path, value);
    }
  }
}
