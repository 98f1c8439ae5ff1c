package dev.isola.provider.docker;

import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.provider.ProviderConfig;
import java.util.Optional;

/**
 * What an operator decides.
 *
 * @param address where the engine is
 * @param image what sandboxes are made from that name none; the host's own root when empty
 * @param pulls whether images that the engine does not have are fetched
 * @param runtime another name for the runtime
 * @param bridge the engine's network that the network mode bridge means; without one there is no
 *     such mode, because the engine's usual bridge leads to every port of the host
 * @param hostSockets whether containers can be given a folder in which their sockets are this
 *     machine's
 */
record DockerProviderSettings(
    EngineAddress address,
    Optional<String> image,
    boolean pullsImages,
    Optional<String> runtime,
    Optional<String> bridge,
    boolean hostSockets) {

  static DockerProviderSettings of(ProviderConfig config, EngineAddress address) {
    return new DockerProviderSettings(
        address,
        config.get("image"),
        !config.get("pull").orElse("missing").equals("never"),
        config.get("runtime"),
        config.get("bridge"),
        address.local() && !config.get("channel").orElse("socket").equals("exec"));
  }
}
