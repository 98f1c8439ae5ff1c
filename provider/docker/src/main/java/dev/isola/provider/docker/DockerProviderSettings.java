package dev.isola.provider.docker;

import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.provider.ProviderConfig;
import java.util.Optional;

/**
 * The operator's settings.
 *
 * @param address the address of the engine
 * @param image the default image; the host's root if empty
 * @param pullsImages whether to pull images that the engine does not have
 * @param runtime a different name for the runtime
 * @param bridge the engine's network for the network mode bridge. Without it that mode is not
 *     supported, because the engine's default bridge can reach every port of the host
 * @param hostSockets whether containers can have a folder in which their sockets are reachable from
 *     this host
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
