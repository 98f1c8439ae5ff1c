package dev.isola.spi.spec;

import java.util.List;
import java.util.Optional;

/**
 * The network access of a sandbox.
 *
 * @param mode the network mode; if empty, the provider's default, which is none if the provider
 *     supports it
 * @param allowDomains if not empty, the only domains that the sandbox can reach
 * @param blockDomains domains that the sandbox cannot reach
 * @param exposePorts ports that are intended to be reached from outside
 */
public record Network(
    Optional<NetworkMode> mode,
    List<String> allowDomains,
    List<String> blockDomains,
    List<Integer> exposePorts) {

  public static final Network DEFAULT =
      new Network(Optional.empty(), List.of(), List.of(), List.of());

  public Network {
    allowDomains = List.copyOf(allowDomains);
    blockDomains = List.copyOf(blockDomains);
    exposePorts = List.copyOf(exposePorts);
  }

  public static Network of(NetworkMode mode) {
    return new Network(Optional.of(mode), List.of(), List.of(), List.of());
  }
}
