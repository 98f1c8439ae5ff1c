package dev.isola.engine.config;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * The properties of the machine that defaults depend on.
 *
 * @param dataFolder the default data folder
 */
public record MachineInfo(long memoryMb, int processors, Path dataFolder) {
  /** Detects the resources of this machine, or of the container that the JVM runs in. */
  public static MachineInfo detect(Path data) {
    long bytes =
        ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
            .getTotalMemorySize();
    return new MachineInfo(
        Math.max(1, bytes / (1024 * 1024)), Runtime.getRuntime().availableProcessors(), data);
  }
}
