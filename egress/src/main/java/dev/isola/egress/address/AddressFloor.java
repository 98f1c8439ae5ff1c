package dev.isola.egress.address;

import dev.isola.spi.spec.AddressBlock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The addresses that no rule opens: this host, private networks, metadata services, and everything
 * else that is not the public internet. It is applied to the resolved address, so a public name
 * cannot point to one of them. An IPv6 address that carries an IPv4 address is judged by both.
 */
public final class AddressFloor {
  private record Blocked(AddressBlock block, String why) {}

  private static final String PRIVATE = "an address of a private network";
  private static final String METADATA = "the address of a metadata service";
  private static final String RESERVED = "a reserved address";

  private static final List<Blocked> BLOCKED =
      List.of(
          blocked("0.0.0.0/8", "an address of this host"),
          blocked("127.0.0.0/8", "an address of this host"),
          blocked("10.0.0.0/8", PRIVATE),
          blocked("100.100.100.200", METADATA), // Alibaba
          blocked("100.64.0.0/10", PRIVATE),
          blocked("168.63.129.16", METADATA), // Azure, a public address
          blocked("169.254.0.0/16", "a link-local address, as of a metadata service"),
          blocked("172.16.0.0/12", PRIVATE),
          blocked("192.0.0.0/24", METADATA), // Oracle, and reserved
          blocked("192.168.0.0/16", PRIVATE),
          blocked("198.18.0.0/15", "an address of a sandbox"),
          blocked("224.0.0.0/4", "a multicast address"),
          blocked("240.0.0.0/4", RESERVED),
          blocked("2001::/32", "an address of a tunnel"), // Teredo
          blocked("2001:10::/28", RESERVED),
          blocked("2001:20::/28", RESERVED),
          blocked("3fff::/20", RESERVED));

  /** The only IPv6 addresses of the public internet, and the prefixes that carry IPv4 addresses. */
  private static final AddressBlock GLOBAL_IPV6 = block("2000::/3");

  private static final AddressBlock NAT64 = block("64:ff9b::/96");
  private static final AddressBlock SIX_TO_FOUR = block("2002::/16");

  private final Supplier<Set<InetAddress>> hostAddresses;
  private final List<AddressBlock> exceptions;

  /**
   * @param hostAddresses the current addresses of this host
   * @param exceptions addresses that the operator opens, such as a private package mirror
   */
  public AddressFloor(Supplier<Set<InetAddress>> hostAddresses, List<AddressBlock> exceptions) {
    this.hostAddresses = hostAddresses;
    this.exceptions = List.copyOf(exceptions);
  }

  /** Returns why sandboxes must not reach an address; empty if they may. */
  public Optional<String> refusal(InetAddress address) {
    if (exceptions.stream().anyMatch(block -> block.contains(address))) {
      return Optional.empty();
    }
    Optional<String> embedded = embedded(address).flatMap(this::refusal);
    if (embedded.isPresent()) {
      return embedded;
    }
    if (hostAddresses.get().contains(address)) {
      return Optional.of("an address of this host");
    }
    Optional<String> known =
        BLOCKED.stream().filter(one -> one.block.contains(address)).map(Blocked::why).findFirst();
    boolean ipv6 = address.getAddress().length == 16;
    return known.isEmpty() && ipv6 && !GLOBAL_IPV6.contains(address) && !NAT64.contains(address)
        ? Optional.of("not an address of the public internet")
        : known;
  }

  /** Returns the IPv4 address that packets to an IPv6 address end at. */
  private static Optional<InetAddress> embedded(InetAddress address) {
    byte[] bytes = address.getAddress();
    return Stream.of(
            Optional.of(12).filter(_ -> NAT64.contains(address)),
            Optional.of(2).filter(_ -> SIX_TO_FOUR.contains(address)))
        .flatMap(Optional::stream)
        .map(at -> ipv4(Arrays.copyOfRange(bytes, at, at + 4)))
        .findFirst();
  }

  private static InetAddress ipv4(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("four bytes are an address", e);
    }
  }

  private static Blocked blocked(String block, String why) {
    return new Blocked(block(block), why);
  }

  private static AddressBlock block(String text) {
    return AddressBlock.parse(text).orElseThrow();
  }
}
