package dev.isola.provider.docker;

import dev.isola.codec.digest.Sha256;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Resolves the address of the engine in the same order as Docker's tools: the setting, the
 * environment, the context, the default.
 *
 * @param home the home directory, which contains {@code .docker}
 */
record EngineAddressResolver(
    EngineVariant variant, ProviderConfig config, Map<String, String> env, Path home) {
  private static final int PLAIN_PORT = 2375;
  private static final int TLS_PORT = 2376;

  /**
   * @throws dev.isola.spi.error.InvalidRequest if the configured address is unusable
   */
  EngineAddress resolve() {
    Optional<String> said = config.get("host");
    if (said.isEmpty() && config.get("context").isPresent()) {
      return context(config.get("context").get());
    }
    if (said.isEmpty()) {
      said =
          variable(
              variant.engine() == EngineVariant.EngineKind.DOCKER
                  ? "DOCKER_HOST"
                  : "CONTAINER_HOST");
    }
    if (said.isPresent()) {
      return parse(said.get(), tls());
    }
    Optional<String> context =
        variant.engine() == EngineVariant.EngineKind.DOCKER
            ? variable("DOCKER_CONTEXT").or(this::currentContext)
            : Optional.empty();
    return context
        .filter(name -> !name.equals("default"))
        .map(this::context)
        .orElseGet(this::defaultAddress);
  }

  private Optional<String> variable(String name) {
    return Optional.ofNullable(env.get(name)).filter(text -> !text.isBlank());
  }

  /** Returns the folder of the TLS files; empty without TLS. */
  private Optional<Path> tls() {
    Optional<String> folder = config.get("tls").or(() -> variable("DOCKER_CERT_PATH"));
    boolean wanted = config.get("tls").isPresent() || variable("DOCKER_TLS_VERIFY").isPresent();
    return wanted
        ? Optional.of(folder.map(Path::of).orElse(home.resolve(".docker")))
        : Optional.empty();
  }

  private Optional<String> currentContext() {
    Path file = home.resolve(".docker/config.json");
    if (!Files.isReadable(file)) {
      return Optional.empty();
    }
    return Optional.of(json(file).text("currentContext")).filter(name -> !name.isEmpty());
  }

  private EngineAddress context(String name) {
    String hash = Sha256.hex(name);
    Path contexts = home.resolve(".docker/contexts");
    String host =
        json(contexts.resolve("meta").resolve(hash).resolve("meta.json"))
            .text("Endpoints", "docker", "Host");
    Path tls = contexts.resolve("tls").resolve(hash).resolve("docker");
    return parse(host, Optional.of(tls).filter(Files::isDirectory));
  }

  private static JsonValue json(Path file) {
    try {
      return JsonValue.parse(Files.readAllBytes(file));
    } catch (IOException e) {
      throw unusable("the content of " + file + ": " + e.getMessage(), e);
    }
  }

  static EngineAddress parse(String text) {
    return parse(text, Optional.empty());
  }

  private static EngineAddress parse(String text, Optional<Path> tls) {
    if (text.startsWith("unix://")) {
      return new EngineAddress.Unix(Path.of(text.substring("unix://".length())));
    }
    if (text.startsWith("/")) {
      return new EngineAddress.Unix(Path.of(text));
    }
    if (text.matches("(tcp|https?)://.+")) {
      String rest = text.substring(text.indexOf("//") + 2).replaceFirst("/.*$", "");
      int colon = rest.lastIndexOf(':');
      try {
        int port =
            colon < 0
                ? tls.isPresent() ? TLS_PORT : PLAIN_PORT
                : Integer.parseInt(rest.substring(colon + 1));
        String host = colon < 0 ? rest : rest.substring(0, colon);
        return new EngineAddress.Tcp(
            host,
            port,
            tls.isEmpty() ? Optional.empty() : Optional.of(EngineTlsFiles.context(tls.get())));
      } catch (NumberFormatException | IOException e) {
        throw unusable(text + ": " + e.getMessage(), e);
      }
    }
    throw unusable(text, null);
  }

  private static SandboxException unusable(
      String what, @org.jspecify.annotations.Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "not a valid address of a container engine: " + what,
            "use unix:///path or tcp://host:port (setting host); for ssh:// create a tunnel"
                + " (ssh -L)")
        .exception(cause);
  }

  private EngineAddress defaultAddress() {
    String name =
        variant.engine() == EngineVariant.EngineKind.DOCKER ? "docker.sock" : "podman/podman.sock";
    Path first = Path.of("/var/run").resolve(name);
    Optional<Path> own = variable("XDG_RUNTIME_DIR").map(folder -> Path.of(folder).resolve(name));
    return new EngineAddress.Unix(
        Files.exists(first) ? first : own.filter(Files::exists).orElse(first));
  }
}
