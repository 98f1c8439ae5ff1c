package dev.isola.host.network;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Where no sandbox gets to: whatever is near the host rather than out on the internet. */
final class Refused {
  /** Private networks, the cloud's metadata, carriers, multicast and what is reserved. */
  static final List<Range> RANGES =
      List.of(
          Range.of("0.0.0.0/8"),
          Range.of("10.0.0.0/8"),
          Range.of("100.64.0.0/10"),
          Range.of("127.0.0.0/8"),
          Range.of("168.63.129.16/32"), // the metadata of Azure, a public address
          Range.of("169.254.0.0/16"),
          Range.of("172.16.0.0/12"),
          Range.of("192.0.0.0/24"),
          Range.of("192.168.0.0/16"),
          Block.RANGE,
          Range.of("224.0.0.0/4"),
          Range.of("240.0.0.0/4"));

  private Refused() {}

  static boolean contains(InetAddress address) {
    return RANGES.stream().anyMatch(range -> range.contains(address));
  }

  /** Returns the host's own addresses, as they are now, that no range covers already. */
  static List<String> ofTheHost() throws IOException {
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
  static String prohibitions() throws IOException {
    StringBuilder batch = new StringBuilder();
    for (Range range : RANGES) {
      // Both are the kernel's own: it neither routes to the one nor to the other.
      if (!range.text().startsWith("0.") && !range.text().startsWith("127.")) {
        batch.append("route replace prohibit ").append(range.text()).append('\n');
      }
    }
    for (String address : ofTheHost()) {
      batch.append("route replace prohibit ").append(address).append("/32\n");
    }
    return batch.toString();
  }
}
