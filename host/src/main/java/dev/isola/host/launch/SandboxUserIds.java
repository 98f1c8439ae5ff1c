package dev.isola.host.launch;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The ids of a sandbox's users on the host. With root privileges every sandbox gets a private range
 * of otherwise unused ids; without them the sandbox's root is the server's user, and there is no
 * other.
 *
 * @param hasRange whether there is a range; otherwise the only id is the server's
 * @param firstId the host's id of the sandbox's root
 */
public record SandboxUserIds(boolean hasRange, long firstId) {
  public static final int COUNT = UserRanges.COUNT;

  private static final int CAP_SYS_ADMIN = 21;
  private static final boolean PRIVILEGED = privileged();

  /** The server's own ids, which no sandbox has. */
  static final SandboxUserIds SERVER = new SandboxUserIds(PRIVILEGED, 0);

  /**
   * Returns the ids of a sandbox, always the same for the same sandbox. Allocates and records them
   * on the first call; they are free again when the folder is gone.
   */
  public static SandboxUserIds of(InstanceId instance, SandboxId id, Path folder)
      throws IOException {
    if (!PRIVILEGED) {
      return new SandboxUserIds(false, 0);
    }
    int hash = Objects.hash(instance.value(), id.value());
    return new SandboxUserIds(true, UserRanges.OF_HOST.firstId(instance, folder, hash));
  }

  /**
   * Removes what this machine records about the ids of an installation, except for sandboxes and
   * layers that still exist.
   */
  public static void removeRecords(InstanceId instance) throws IOException {
    if (PRIVILEGED) {
      UserRanges.OF_HOST.removeEndedClaims(instance);
    }
  }

  /** Reports whether this process may mount file systems and map arbitrary ids. */
  public static boolean rangesAvailable() {
    return PRIVILEGED;
  }

  /** Changes the owner of a folder to the sandbox's root. */
  void chown(Path path) throws IOException {
    if (hasRange) {
      Files.setAttribute(path, "unix:uid", Math.toIntExact(firstId));
      Files.setAttribute(path, "unix:gid", Math.toIntExact(firstId));
    }
  }

  /** Returns the id of the sandbox's root in the form that the launcher expects. */
  public String root() {
    return Long.toString(hasRange ? firstId : 0);
  }

  private static boolean privileged() {
    try {
      String status = Files.readString(Path.of("/proc/self/status"));
      String effective =
          status
              .lines()
              .filter(line -> line.startsWith("CapEff:"))
              .map(line -> line.substring("CapEff:".length()).strip())
              .findFirst()
              .orElse("0");
      boolean admin = (Long.parseUnsignedLong(effective, 16) >> CAP_SYS_ADMIN & 1) != 0;
      return admin && status.lines().anyMatch(line -> line.matches("Uid:\\s+\\d+\\s+0\\s.*"));
    } catch (IOException e) {
      return false;
    }
  }
}
