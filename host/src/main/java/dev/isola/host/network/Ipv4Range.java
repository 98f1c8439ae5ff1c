package dev.isola.host.network;

import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * A range of IPv4 addresses.
 *
 * @param text such as {@code 10.0.0.0/8}
 */
record Ipv4Range(String text, int first, int bits) {

  static Ipv4Range of(String text) {
    int slash = text.indexOf('/');
    return new Ipv4Range(
        text,
        number(Inet4Address.ofLiteral(text.substring(0, slash))),
        Integer.parseInt(text.substring(slash + 1)));
  }

  boolean contains(InetAddress address) {
    return address instanceof Inet4Address && contains(number(address));
  }

  boolean contains(int address) {
    return bits == 0 || (address ^ first) >>> (32 - bits) == 0;
  }

  static int number(InetAddress address) {
    int number = 0;
    for (byte part : address.getAddress()) {
      number = number << 8 | (part & 0xff);
    }
    return number;
  }

  static String text(int address) {
    return (address >>> 24)
        + "."
        + (address >>> 16 & 0xff)
        + "."
        + (address >>> 8 & 0xff)
        + "."
        + (address & 0xff);
  }
}
