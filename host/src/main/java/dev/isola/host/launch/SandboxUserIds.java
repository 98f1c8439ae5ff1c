package dev.isola.host.launch;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/**
 * The users of a sandbox as the host numbers them. Whoever may, gives every sandbox a range of its
 * own that belongs to nobody on the host; others are root in a user namespace where they are all
 * there is.
 *
 * @param range whether there is a range; otherwise the only user is the caller
 * @param first the host's number of the sandbox's root
 */
public record SandboxUserIds(boolean hasRange, long firstId) {
  /** As many as fit into the numbers programs expect. */
  public static final int COUNT = 65_536;

  /** Where systemd, too, takes the users of containers from: 524288 to 1879048191. */
  private static final int FIRST_RANGE = 8;

  private static final int RANGES = 28_664;
  private static final int CAP_SYS_ADMIN = 21;
  private static final boolean PRIVILEGED = privileged();

  /** Nobody's in any sandbox. */
  static final SandboxUserIds SERVER = new SandboxUserIds(PRIVILEGED, 0);

  /** Returns the users of a sandbox; the same whenever it is asked. */
  public static SandboxUserIds of(InstanceId instance, SandboxId id) {
    if (!PRIVILEGED) {
      return new SandboxUserIds(false, 0);
    }
    int number = Math.floorMod(Objects.hash(instance.value(), id.value()), RANGES);
    return new SandboxUserIds(true, (long) COUNT * (FIRST_RANGE + number));
  }

  /** Returns true when this process may mount and map users as it likes. */
  public static boolean rangesAvailable() {
    return PRIVILEGED;
  }

  /** Gives a folder to the sandbox's root. */
  void chown(Path path) throws IOException {
    if (hasRange) {
      Files.setAttribute(path, "unix:uid", Math.toIntExact(firstId));
      Files.setAttribute(path, "unix:gid", Math.toIntExact(firstId));
    }
  }

  /** Returns the sandbox's root as the launcher has to name it. */
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
