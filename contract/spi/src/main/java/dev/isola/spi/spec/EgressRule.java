package dev.isola.spi.spec;

import java.util.List;

/**
 * A rule for connections to other hosts.
 *
 * @param action what happens to a connection that matches
 * @param destination {@code example.com}, {@code *.example.com} for every name beneath it but not
 *     itself, {@code *} for every name, or an address or a block of addresses such as {@code
 *     192.0.2.0/24} for connections without a name
 * @param ports the ports that match; every port if empty
 * @param http if not empty, the only HTTP requests that are allowed; TLS is opened to see them
 */
public record EgressRule(
    EgressAction action, String destination, List<PortRange> ports, List<HttpRule> http) {
  public EgressRule {
    ports = List.copyOf(ports);
    http = List.copyOf(http);
  }

  public static EgressRule allow(String destination) {
    return new EgressRule(EgressAction.ALLOW, destination, List.of(), List.of());
  }

  public static EgressRule deny(String destination) {
    return new EgressRule(EgressAction.DENY, destination, List.of(), List.of());
  }
}
