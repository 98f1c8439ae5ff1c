package dev.isola.host.network;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Where no sandbox gets to: whatever is near the host rather than out on the internet. */
final class BlockedRanges {
  /** Private networks, the cloud's metadata, carriers, multicast and what is reserved. */
  static final List<Ipv4Range> RANGES =
      List.of(
          Ipv4Range.of("0.0.0.0/8"),
          Ipv4Range.of("10.0.0.0/8"),
          Ipv4Range.of("100.64.0.0/10"),
          Ipv4Range.of("127.0.0.0/8"),
          Ipv4Range.of("168.63.129.16/32"), // the metadata of Azure, a public address
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

  /** Returns the host's own addresses, as they are now, that no range covers already. */
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

  /** Returns the commands for {@code ip} that make the kernel inside say no at once. */
  static String prohibitRoutes() throws IOException {
    StringBuilder batch = new StringBuilder();
    for (Ipv4Range range : RANGES) {
      // Both are the kernel's own: it neither routes to the one nor to the other.
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
