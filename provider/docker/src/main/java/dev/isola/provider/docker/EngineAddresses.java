package dev.isola.provider.docker;

import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.ProviderConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds where the engine is: the setting, the environment, the usual places. */
final class EngineAddresses {
  private static final int PLAIN_PORT = 2375;

  private EngineAddresses() {}

  static EngineAddress of(Flavour flavour, ProviderConfig config, Map<String, String> env) {
    Optional<String> said =
        config
            .get("host")
            .or(
                () ->
                    Optional.ofNullable(
                        env.get(
                            flavour.engine() == Flavour.Kind.DOCKER
                                ? "DOCKER_HOST"
                                : "CONTAINER_HOST")));
    return said.filter(text -> !text.isBlank())
        .map(EngineAddresses::parse)
        .orElseGet(() -> usual(flavour, env));
  }

  static EngineAddress parse(String text) {
    if (text.startsWith("unix://")) {
      return new EngineAddress.Unix(Path.of(text.substring("unix://".length())));
    }
    if (text.startsWith("/")) {
      return new EngineAddress.Unix(Path.of(text));
    }
    if (text.startsWith("tcp://") || text.startsWith("http://")) {
      String rest = text.substring(text.indexOf("//") + 2).replaceFirst("/.*$", "");
      int colon = rest.lastIndexOf(':');
      try {
        return colon < 0
            ? new EngineAddress.Tcp(rest, PLAIN_PORT, Optional.empty())
            : new EngineAddress.Tcp(
                rest.substring(0, colon),
                Integer.parseInt(rest.substring(colon + 1)),
                Optional.empty());
      } catch (NumberFormatException notOne) {
        throw new IllegalArgumentException("no address of an engine: " + text, notOne);
      }
    }
    throw new IllegalArgumentException(
        "no address of an engine that can be used here: " + text + "; use unix:// or tcp://");
  }

  private static EngineAddress usual(Flavour flavour, Map<String, String> env) {
    Optional<String> runtime = Optional.ofNullable(env.get("XDG_RUNTIME_DIR"));
    List<String> names =
        flavour.engine() == Flavour.Kind.DOCKER
            ? List.of("docker.sock")
            : List.of("podman/podman.sock");
    Path first = Path.of("/var/run").resolve(names.getFirst());
    if (Files.exists(first) || runtime.isEmpty()) {
      return new EngineAddress.Unix(first);
    }
    Path own = Path.of(runtime.get()).resolve(names.getFirst());
    return new EngineAddress.Unix(Files.exists(own) ? own : first);
  }
}
