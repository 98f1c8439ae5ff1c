package dev.isola.conformance.census;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The host's ends of sandboxes' interfaces: they bear the sandbox's name as their alias. */
final class NetworkInterfaces {
  private static final Path LINKS = Path.of("/sys/class/net");

  private NetworkInterfaces() {}

  static List<Thing> find(Scope scope) {
    List<Thing> found = new ArrayList<>();
    for (String name : Proc.names(LINKS)) {
      Path link = LINKS.resolve(name);
      String alias = Proc.text(link.resolve("ifalias")).strip();
      if (alias.startsWith("isola-") && scope.named(alias)) {
        found.add(
            new Thing(
                Thing.Kind.NETWORK_INTERFACE,
                name + "@" + Proc.text(link.resolve("ifindex")).strip(),
                "network interface " + name + " (" + alias + ")"));
      }
    }
    return found;
  }
}
