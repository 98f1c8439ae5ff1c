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
 * The addresses that sandboxes get, one each. The block is set aside for tests of equipment (RFC
 * 2544): it is on no company's network and not on the internet. Of an interface's name there can be
 * only one, and the name says the address: making the interface takes the address, for whatever
 * process of whatever installation.
 */
final class AddressPool {
  static final Ipv4Range RANGE = Ipv4Range.of("198.19.0.0/16");

  /** What a sandbox takes for the next hop. Nobody has it: nothing can be reached there. */
  static final String GATEWAY = "198.19.0.1";

  private static final int FIRST = 2;
  private static final int COUNT = 65_533;

  /** A route that is wider is a way to the internet rather than a network in use. */
  private static final int MIN_PREFIX_LENGTH = 8;

  private AddressPool() {}

  /**
   * One place in the block.
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

    /** Given by us, so that no program of the host thinks it should be another. */
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
   * Returns the places a sandbox may try, in an order of its own.
   *
   * @param taken names of interfaces
   */
  static List<AddressSlot> candidates(SandboxId id, Set<String> taken) throws IOException {
    List<Ipv4Range> routes = routes();
    int start = Math.floorMod(id.value().hashCode(), COUNT);
    return IntStream.range(0, COUNT)
        .mapToObj(i -> new AddressSlot(FIRST + (start + i) % COUNT))
        .filter(place -> !taken.contains(place.link()))
        .filter(place -> routes.stream().noneMatch(r -> r.contains(RANGE.first() + place.number())))
        .limit(8)
        .toList();
  }

  /** Returns the networks this machine is already in. */
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
