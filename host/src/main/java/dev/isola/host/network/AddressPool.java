package dev.isola.host.network;

import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The pool of IPv4 addresses for sandboxes. RFC 2544 reserves the block for benchmarks, so it is
 * used neither in private networks nor on the internet. The name of an interface is unique and
 * determines the address: creating the interface allocates the address, across all processes and
 * installations.
 */
final class AddressPool {
  static final Ipv4Range RANGE = Ipv4Range.of("198.19.0.0/16");

  /** The next hop of sandboxes. No interface has this address. */
  static final String GATEWAY = "198.19.0.1";

  private static final int FIRST = 2;
  private static final int COUNT = 65_533;

  /** Wider routes lead to the internet and do not mark a block as in use. */
  private static final int MIN_PREFIX_LENGTH = 8;

  private AddressPool() {}

  /**
   * An address of the pool.
   *
   * @param number from 2 to 65534
   */
  record AddressSlot(int number) {
    String link() {
      return VethLink.PREFIX + number;
    }

    String address() {
      return Ipv4Range.text(RANGE.first() + number);
    }

    /** Assigned explicitly, so that no program of the host changes it. */
    String hostMac() {
      return mac(0);
    }

    String sandboxMac() {
      return mac(1);
    }

    private String mac(int side) {
      return "02:69:73:%02x:%02x:%02x".formatted(side, number >> 8, number & 0xff);
    }
  }

  /**
   * Returns addresses for a sandbox to try, starting at one derived from its id.
   *
   * @param taken the names of existing interfaces
   */
  static List<AddressSlot> candidates(SandboxId id, Set<String> taken) throws IOException {
    List<Ipv4Range> routes = routes();
    int start = Math.floorMod(id.value().hashCode(), COUNT);
    return IntStream.range(0, COUNT)
        .mapToObj(i -> new AddressSlot(FIRST + (start + i) % COUNT))
        .filter(slot -> !taken.contains(slot.link()))
        .filter(slot -> routes.stream().noneMatch(r -> r.contains(RANGE.first() + slot.number())))
        .limit(8)
        .toList();
  }

  /** Returns the networks that the host is connected to. */
  private static List<Ipv4Range> routes() throws IOException {
    List<Ipv4Range> found = new ArrayList<>();
    List<String> lines = Files.readAllLines(Path.of("/proc/net/route"), StandardCharsets.US_ASCII);
    for (String line : lines.subList(Math.min(1, lines.size()), lines.size())) {
      String[] fields = line.trim().split("\\s+");
      if (fields.length < 8 || fields[0].startsWith(VethLink.PREFIX)) {
        continue;
      }
      int bits = Integer.bitCount(number(fields[7]));
      if (bits >= MIN_PREFIX_LENGTH) {
        found.add(new Ipv4Range(fields[1], number(fields[1]), bits));
      }
    }
    return found;
  }

  private static int number(String hex) {
    int raw = Integer.parseUnsignedInt(hex, 16);
    return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Integer.reverseBytes(raw) : raw;
  }
}
