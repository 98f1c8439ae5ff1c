package dev.isola.host.network;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Addresses that sandboxes must not reach: the host, its networks and everything else that is not
 * the public internet.
 */
final class BlockedRanges {
  /** Private networks, cloud metadata, carrier-grade NAT, multicast and reserved ranges. */
  static final List<Ipv4Range> RANGES =
      List.of(
          Ipv4Range.of("0.0.0.0/8"),
          Ipv4Range.of("10.0.0.0/8"),
          Ipv4Range.of("100.64.0.0/10"),
          Ipv4Range.of("127.0.0.0/8"),
          Ipv4Range.of("168.63.129.16/32"), // metadata service of Azure, a public address
          Ipv4Range.of("169.254.0.0/16"),
          Ipv4Range.of("172.16.0.0/12"),
          Ipv4Range.of("192.0.0.0/24"),
          Ipv4Range.of("192.168.0.0/16"),
          AddressPool.RANGE,
          Ipv4Range.of("224.0.0.0/4"),
          Ipv4Range.of("240.0.0.0/4"));

  private BlockedRanges() {}

  static boolean contains(InetAddress address) {
    return RANGES.stream().anyMatch(range -> range.contains(address));
  }

  /** Returns the host's current addresses that are not in a blocked range. */
  static List<String> hostAddresses() throws IOException {
    List<String> found = new ArrayList<>();
    for (NetworkInterface link : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      for (InetAddress address : Collections.list(link.getInetAddresses())) {
        if (address instanceof Inet4Address && !contains(address)) {
          found.add(address.getHostAddress());
        }
      }
    }
    return found;
  }

  /**
   * Returns {@code ip} commands that make the sandbox's kernel reject packets to these addresses.
   */
  static String prohibitRoutes() throws IOException {
    StringBuilder batch = new StringBuilder();
    for (Ipv4Range range : RANGES) {
      // The kernel itself does not route to these two.
      if (!range.text().startsWith("0.") && !range.text().startsWith("127.")) {
        batch.append("route replace prohibit ").append(range.text()).append('\n');
      }
    }
    for (String address : hostAddresses()) {
      batch.append("route replace prohibit ").append(address).append("/32\n");
    }
    return batch.toString();
  }
}
