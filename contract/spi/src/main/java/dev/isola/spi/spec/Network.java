package dev.isola.spi.spec;

import java.util.List;
import java.util.Optional;

/**
 * What a sandbox may reach, and what may reach it.
 *
 * @param mode the network asked for; empty takes what the provider gives by default, which is none
 *     wherever it can be none
 * @param allowDomains when not empty, the only domains that may be reached
 * @param blockDomains domains that may not be reached
 * @param exposePorts ports that are meant to be reached from outside
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
