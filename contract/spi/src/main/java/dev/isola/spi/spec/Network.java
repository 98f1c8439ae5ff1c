package dev.isola.spi.spec;

import java.util.List;
import java.util.Optional;

/**
 * The network access of a sandbox.
 *
 * @param mode the network mode; if empty, {@code filtered} if domains or egress settings are given,
 *     otherwise the provider's default, which is none if the provider supports it
 * @param allowDomains if not empty, the only domains that the sandbox can reach; the same as rules
 *     in {@code egress} that allow every port
 * @param blockDomains domains that the sandbox cannot reach
 * @param exposePorts ports that are intended to be reached from outside
 * @param egress which other hosts the sandbox can reach in mode {@code filtered}
 */
public record Network(
    Optional<NetworkMode> mode,
    List<String> allowDomains,
    List<String> blockDomains,
    List<Integer> exposePorts,
    Egress egress) {

  public static final Network DEFAULT =
      new Network(Optional.empty(), List.of(), List.of(), List.of(), Egress.NONE);

  public Network {
    allowDomains = List.copyOf(allowDomains);
    blockDomains = List.copyOf(blockDomains);
    exposePorts = List.copyOf(exposePorts);
    if (mode.isEmpty()
        && !(allowDomains.isEmpty() && blockDomains.isEmpty() && egress.equals(Egress.NONE))) {
      mode = Optional.of(NetworkMode.FILTERED);
    }
  }

  public Network(
      Optional<NetworkMode> mode,
      List<String> allowDomains,
      List<String> blockDomains,
      List<Integer> exposePorts) {
    this(mode, allowDomains, blockDomains, exposePorts, Egress.NONE);
  }

  public static Network of(NetworkMode mode) {
    return new Network(Optional.of(mode), List.of(), List.of(), List.of());
  }

  /** Returns a network in mode {@code filtered} with these settings. */
  public static Network filtered(Egress egress) {
    return new Network(Optional.of(NetworkMode.FILTERED), List.of(), List.of(), List.of(), egress);
  }

  /** Returns whether connections to other hosts are passed to the server. */
  public boolean isFiltered() {
    return mode.filter(one -> one == NetworkMode.FILTERED).isPresent();
  }

  /** Returns this network with other egress settings. */
  public Network withEgress(Egress other) {
    return new Network(mode, allowDomains, blockDomains, exposePorts, other);
  }
}
