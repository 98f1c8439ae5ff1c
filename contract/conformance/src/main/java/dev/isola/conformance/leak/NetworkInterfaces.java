package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Host ends of sandbox network interfaces; their alias contains the sandbox id. */
final class NetworkInterfaces {
  private static final Path LINKS = Path.of("/sys/class/net");

  private NetworkInterfaces() {}

  static List<TrackedResource> find(ScanScope scope) {
    List<TrackedResource> found = new ArrayList<>();
    for (String name : ProcFiles.names(LINKS)) {
      Path link = LINKS.resolve(name);
      String alias = ProcFiles.text(link.resolve("ifalias")).strip();
      if (alias.startsWith("isola-") && scope.ownsName(alias)) {
        found.add(
            new TrackedResource(
                TrackedResource.Kind.NETWORK_INTERFACE,
                name + "@" + ProcFiles.text(link.resolve("ifindex")).strip(),
                "network interface " + name + " (" + alias + ")"));
      }
    }
    return found;
  }
}
