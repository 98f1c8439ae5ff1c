package dev.isola.server.limit;

import dev.isola.spi.spec.AddressBlock;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Determines the address of the client of a request. The header {@code Forwarded} (RFC 7239) counts
 * only as far as trusted proxies wrote it: what a client sends itself is never believed.
 *
 * @param trustedProxies the addresses of the operator's proxies
 */
public record ClientAddresses(List<AddressBlock> trustedProxies) {
  public static final ClientAddresses DIRECT = new ClientAddresses(List.of());

  /** The network that one client usually has for itself. */
  private static final int IPV6_NETWORK = 64;

  private static final Pattern NODE =
      Pattern.compile("\\[(?<six>[0-9A-Fa-f:.]+)](:\\d{1,5})?|(?<four>[0-9.]+)(:\\d{1,5})?");

  public ClientAddresses {
    trustedProxies = List.copyOf(trustedProxies);
  }

  /**
   * Returns the address of the client.
   *
   * @param peer the other end of the connection
   * @param forwarded all headers {@code Forwarded}, in order
   */
  public String of(String peer, List<String> forwarded) {
    String client = peer;
    String rest = String.join(",", forwarded);
    while (isTrusted(client)) {
      Optional<ForwardedElement> last = ForwardedElement.lastOf(rest);
      Optional<String> before = last.flatMap(ClientAddresses::node);
      if (before.isEmpty()) {
        return client;
      }
      client = before.get();
      rest = last.get().before();
    }
    return client;
  }

  /** Returns whether an address is that of a proxy of the operator. */
  public boolean isTrusted(String address) {
    return parse(address)
        .filter(one -> trustedProxies.stream().anyMatch(block -> block.contains(one)))
        .isPresent();
  }

  /**
   * Returns what limits count a client by: its address, or with IPv6 its network, of which a client
   * can use every address.
   */
  public static String network(String address) {
    return parse(address)
        .filter(Inet6Address.class::isInstance)
        .map(one -> AddressBlock.of(one).truncated(IPV6_NETWORK).toString())
        .orElse(address);
  }

  private static Optional<String> node(ForwardedElement element) {
    Matcher node = NODE.matcher(element.parameters().getOrDefault("for", ""));
    return node.matches()
        ? Optional.ofNullable(node.group("six"))
            .or(() -> Optional.ofNullable(node.group("four")))
            .flatMap(ClientAddresses::parse)
            .map(InetAddress::getHostAddress)
        : Optional.empty();
  }

  /** Parses an address, as this server writes it or as a header has it. */
  private static Optional<InetAddress> parse(String address) {
    String plain = address.startsWith("[") ? address.substring(1, address.length() - 1) : address;
    int zone = plain.indexOf('%');
    return AddressBlock.address(
        (zone < 0 ? plain : plain.substring(0, zone)).toLowerCase(Locale.ROOT));
  }
}
