package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A limit on what a sandbox reads from and writes to one disk of the host.
 *
 * <p>Version 2 counts all reads and writes of a sandbox. Version 1 counts reads and direct writes,
 * but attributes writes from the page cache to no group.
 *
 * @param device the disk as {@code MAJOR:MINOR}
 * @param bytesPerSecond 0 for no limit
 * @param operationsPerSecond 0 for no limit
 */
public record IoLimit(String device, long bytesPerSecond, long operationsPerSecond) {
  private static final Path BLOCK_DEVICES = Path.of("/sys/dev/block");

  /** Returns the disk that holds a folder; empty if its file system is on no disk or on several. */
  public static Optional<String> disk(Path folder) throws IOException {
    return disk((Long) Files.getAttribute(folder, "unix:dev"), BLOCK_DEVICES);
  }

  /** Returns the whole disk for a partition, because partitions cannot be limited. */
  static Optional<String> disk(long device, Path devices) throws IOException {
    long major = (device >> 8 & 0xfff) | (device >> 32 & ~0xfffL);
    long minor = (device & 0xff) | (device >> 12 & ~0xffL);
    Path found = devices.resolve(major + ":" + minor);
    if (!Files.isDirectory(found)) {
      return Optional.empty();
    }
    Path disk = found.toRealPath();
    boolean partition = Files.exists(disk.resolve("partition"));
    String number = KernelFile.read((partition ? disk.resolveSibling("dev") : disk.resolve("dev")));
    return Optional.of(number).filter(text -> text.matches("\\d+:\\d+"));
  }

  /** Returns the settings to write to the files of a group. */
  List<CgroupSetting> settings(boolean unified) {
    List<CgroupSetting> settings = new ArrayList<>();
    if (unified) {
      settings.add(
          new CgroupSetting(
              "io.max",
              "%s rbps=%s wbps=%s riops=%s wiops=%s"
                  .formatted(
                      device,
                      orMax(bytesPerSecond),
                      orMax(bytesPerSecond),
                      orMax(operationsPerSecond),
                      orMax(operationsPerSecond)),
              false));
    } else {
      Map.of("bps", bytesPerSecond, "iops", operationsPerSecond)
          .forEach(
              (unit, limit) -> {
                for (String way : List.of("read", "write")) {
                  settings.add(
                      new CgroupSetting(
                          "blkio.throttle." + way + "_" + unit + "_device",
                          device + " " + limit, // 0 means no limit
                          false));
                }
              });
    }
    return settings;
  }

  private static String orMax(long limit) {
    return limit == 0 ? "max" : Long.toString(limit);
  }
}
