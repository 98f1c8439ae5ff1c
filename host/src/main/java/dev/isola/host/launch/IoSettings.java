package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.host.cgroup.IoLimit;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The operator's limits on the I/O of each sandbox on the disk of the data folder. By default there
 * are none; a limit that cannot be enforced makes the provider unhealthy.
 *
 * @param bytesPerSecond 0 for no limit
 * @param operationsPerSecond 0 for no limit
 */
public record IoSettings(long bytesPerSecond, long operationsPerSecond) {
  public static final IoSettings NONE = new IoSettings(0, 0);

  private static final String BYTES = "io_bytes_per_second";
  private static final String OPERATIONS = "io_operations_per_second";
  private static final String REMEDY =
      "remove "
          + BYTES
          + " and "
          + OPERATIONS
          + ", or run Isola as root where control groups have the controller io (version 1: blkio)"
          + " and the data folder is on a disk";

  /**
   * Reads the settings of a provider.
   *
   * @throws dev.isola.spi.error.SandboxException if a value is not a number, naming the setting
   */
  public static IoSettings of(ProviderConfig config) {
    return new IoSettings(number(config, BYTES), number(config, OPERATIONS));
  }

  private static long number(ProviderConfig config, String name) {
    String text = config.get(name).orElse("0").strip();
    if (!text.matches("\\d{1,15}")) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "the setting " + name + " is not a number: " + text,
              "use a whole number without a unit; 0 means no limit")
          .exception();
    }
    return Long.parseLong(text);
  }

  boolean areSet() {
    return bytesPerSecond > 0 || operationsPerSecond > 0;
  }

  /** Returns the limit for sandboxes with files in a folder; empty if none is configured. */
  Optional<IoLimit> limit(Path folder) throws IOException {
    if (!areSet()) {
      return Optional.empty();
    }
    String disk =
        IoLimit.disk(folder)
            .orElseThrow(
                () -> new IOException("the file system of " + folder + " is not on a disk"));
    return Optional.of(new IoLimit(disk, bytesPerSecond, operationsPerSecond));
  }

  /**
   * Returns why the configured limits cannot be enforced; empty if they can or none is configured.
   */
  Optional<String> obstacle(Path folder, ControlGroups groups) {
    try {
      return limit(folder).flatMap(groups::obstacle);
    } catch (IOException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Returns the line of {@code isola doctor}. */
  Prerequisite prerequisite(Path folder, ControlGroups groups) {
    Optional<String> obstacle = obstacle(folder, groups);
    return new Prerequisite(
        "disk throughput limit",
        true,
        obstacle.isEmpty(),
        obstacle.orElseGet(() -> described(groups)),
        obstacle.isEmpty() ? "" : REMEDY);
  }

  private String described(ControlGroups groups) {
    String limits =
        (bytesPerSecond > 0 ? bytesPerSecond + " bytes/s" : "unlimited bytes/s")
            + (operationsPerSecond > 0 ? ", " + operationsPerSecond + " operations/s" : "");
    return groups.limitsCachedWrites()
        ? limits
        : limits + " for reads; writes to a sandbox's disk are not limited (cgroup version 1)";
  }

  String remedy() {
    return REMEDY;
  }
}
