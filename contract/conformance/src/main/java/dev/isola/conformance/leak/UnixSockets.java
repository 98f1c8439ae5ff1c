package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Unix sockets bound to a path in scope, listening or connected. The socket of an idle launcher
 * belongs to its provider and is not a leak while the process that opened it lives.
 */
final class UnixSockets {
  private static final Path TABLE = Path.of("/proc/net/unix");
  private static final Pattern STANDING_BY = Pattern.compile(".*/bin/launch-(\\d+)-\\d+");

  private UnixSockets() {}

  static List<TrackedResource> find(ScanScope scope) {
    List<TrackedResource> found = new ArrayList<>();
    for (String line : ProcFiles.lines(TABLE)) {
      // Num RefCount Protocol Flags Type St Inode Path
      String[] fields = line.split(" +", 8);
      if (fields.length == 8 && scope.ownsPath(fields[7]) && !standsBy(fields[7])) {
        String inode = fields[6];
        found.add(
            new TrackedResource(
                TrackedResource.Kind.UNIX_SOCKET,
                inode,
                "unix socket " + fields[7] + " (inode " + inode + ")"));
      }
    }
    return found;
  }

  private static boolean standsBy(String path) {
    Matcher owner = STANDING_BY.matcher(path);
    return owner.matches() && ProcessHandle.of(Long.parseLong(owner.group(1))).isPresent();
  }
}
