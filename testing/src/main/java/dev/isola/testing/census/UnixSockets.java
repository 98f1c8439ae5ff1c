package dev.isola.testing.census;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Unix sockets that are bound to a path of ours, listening or connected. */
final class UnixSockets {
  private static final Path TABLE = Path.of("/proc/net/unix");

  private UnixSockets() {}

  static List<Thing> find(Scope scope) {
    List<Thing> found = new ArrayList<>();
    for (String line : Proc.lines(TABLE)) {
      // Num RefCount Protocol Flags Type St Inode Path
      String[] fields = line.split(" +", 8);
      if (fields.length == 8 && scope.holds(fields[7])) {
        String inode = fields[6];
        found.add(
            new Thing(
                Thing.Kind.UNIX_SOCKET,
                inode,
                "unix socket " + fields[7] + " (inode " + inode + ")"));
      }
    }
    return found;
  }
}
