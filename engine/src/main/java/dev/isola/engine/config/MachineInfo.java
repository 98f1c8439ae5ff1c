package dev.isola.engine.config;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * What the defaults depend on.
 *
 * @param data where state is kept unless somebody says otherwise
 */
public record MachineInfo(long memoryMb, int processors, Path dataFolder) {
  /** Looks at this machine, or at the part of it that the JVM's container may use. */
  public static MachineInfo detect(Path data) {
    long bytes =
        ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
            .getTotalMemorySize();
    return new MachineInfo(
        Math.max(1, bytes / (1024 * 1024)), Runtime.getRuntime().availableProcessors(), data);
  }
}
