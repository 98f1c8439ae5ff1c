package dev.isola.spi.spec;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A block of addresses, such as {@code 192.0.2.0/24} or {@code 2001:db8::/32}. IPv4 addresses that
 * are written as IPv6 ({@code ::ffff:192.0.2.1}) are IPv4 addresses.
 *
 * @param prefix the first address of the block, as hexadecimal digits
 * @param length how many bits of an address must agree with it
 */
public record AddressBlock(String prefix, int length) {
  private static final Pattern IPV4 =
      Pattern.compile("(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){3}");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-f:.]{2,45}");
  private static final Pattern LENGTH = Pattern.compile("0|[1-9][0-9]{0,2}");

  /**
   * Parses an address or a block; empty if the text is neither. Only the usual form of an IPv4
   * address is accepted: four decimal numbers without leading zeros.
   */
  public static Optional<AddressBlock> parse(String text) {
    int slash = text.indexOf('/');
    Optional<InetAddress> address = address(slash < 0 ? text : text.substring(0, slash));
    if (address.isEmpty()) {
      return Optional.empty();
    }
    byte[] bytes = address.get().getAddress();
    int bits = bytes.length * 8;
    String lengthText = slash < 0 ? Integer.toString(bits) : text.substring(slash + 1);
    if (!LENGTH.matcher(lengthText).matches()) {
      return Optional.empty();
    }
    int length = Integer.parseInt(lengthText);
    return length > bits ? Optional.empty() : Optional.of(of(bytes, length));
  }

  /** Parses an address; empty if the text is none in its usual form. Never resolves a name. */
  public static Optional<InetAddress> address(String text) {
    boolean ipv4 = IPV4.matcher(text).matches();
    if (!ipv4 && !(text.indexOf(':') >= 0 && IPV6.matcher(text).matches())) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.ofLiteral(text));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Returns the block of one address. */
  public static AddressBlock of(InetAddress address) {
    byte[] bytes = address.getAddress();
    return of(bytes, bytes.length * 8);
  }

  private static AddressBlock of(byte[] bytes, int length) {
    byte[] first = Arrays.copyOf(bytes, bytes.length);
    for (int bit = length; bit < first.length * 8; bit++) {
      first[bit / 8] &= (byte) ~(0x80 >> (bit % 8));
    }
    return new AddressBlock(HexFormat.of().formatHex(first), length);
  }

  /** Returns the block of this length around it. */
  public AddressBlock truncated(int shorter) {
    return of(HexFormat.of().parseHex(prefix), Math.min(shorter, length));
  }

  public boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length * 2 == prefix.length() && of(bytes, length).prefix.equals(prefix);
  }

  @Override
  public String toString() {
    try {
      InetAddress first = InetAddress.getByAddress(HexFormat.of().parseHex(prefix));
      String text = first.getHostAddress();
      return length == prefix.length() * 4 ? text : text + "/" + length;
    } catch (UnknownHostException e) {
      throw new IllegalStateException("the prefix has the length of an address", e);
    }
  }
}
