package dev.isola.host.network;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The host's name servers that sandboxes can use. A server on the host itself is unreachable for
 * sandboxes; the upstream servers of systemd-resolved are used instead. There is no public
 * fallback: the choice of name servers is the operator's.
 */
final class Resolvers {
  private static final List<Path> FILES =
      List.of(Path.of("/etc/resolv.conf"), Path.of("/run/systemd/resolve/resolv.conf"));
  private static final int MAX_RESOLVERS = 3;

  private Resolvers() {}

  static List<String> ofHost() throws IOException {
    for (Path file : FILES) {
      if (Files.isReadable(file)) {
        List<String> found = new ArrayList<>();
        for (Inet4Address server : parse(Files.readAllLines(file, StandardCharsets.ISO_8859_1))) {
          if (NetworkInterface.getByInetAddress(server) == null) {
            found.add(server.getHostAddress());
          }
        }
        if (!found.isEmpty()) {
          return found.subList(0, Math.min(MAX_RESOLVERS, found.size()));
        }
      }
    }
    return List.of();
  }

  /** Returns the servers that may be on other machines. Sandboxes have no IPv6. */
  static List<Inet4Address> parse(List<String> lines) {
    List<Inet4Address> found = new ArrayList<>();
    for (String line : lines) {
      String[] words = line.trim().split("\\s+");
      if (words.length > 1 && words[0].equals("nameserver")) {
        try {
          InetAddress address = InetAddress.ofLiteral(words[1]);
          if (address instanceof Inet4Address server
              && !server.isLoopbackAddress()
              && !server.isAnyLocalAddress()
              && !found.contains(server)) {
            found.add(server);
          }
        } catch (IllegalArgumentException notAnAddress) {
          // The host's resolver ignores it as well.
        }
      }
    }
    return found;
  }
}
