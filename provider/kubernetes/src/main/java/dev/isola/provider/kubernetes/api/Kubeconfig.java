package dev.isola.provider.kubernetes.api;

import dev.isola.codec.x509.PemTls;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Reads how to reach a cluster from a kubeconfig file, or from the service account of a pod. */
public final class Kubeconfig {
  private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
  private static final int MAX_BYTES = 4 << 20;

  private final Path file;
  private final Map<?, ?> content;

  private Kubeconfig(Path file, Map<?, ?> content) {
    this.file = file;
    this.content = content;
  }

  /**
   * Reads a file.
   *
   * @param context the context to use instead of the current one
   * @throws dev.isola.spi.error.ProviderUnavailable if the file does not tell how to reach a
   *     cluster
   */
  public static ClusterAccess read(Path file, Optional<String> context) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new IOException("it is larger than " + MAX_BYTES + " bytes");
      }
      Object yaml =
          new Load(LoadSettings.builder().setCodePointLimit(MAX_BYTES).build())
              .loadFromString(Files.readString(file));
      if (!(yaml instanceof Map<?, ?> content)) {
        throw new IOException("it is not a kubeconfig");
      }
      return new Kubeconfig(file, content).access(context);
    } catch (IOException | YamlEngineException | IllegalArgumentException e) {
      throw unusable("the kubeconfig " + file + " cannot be used: " + e.getMessage(), e);
    }
  }

  /** Returns how a pod reaches its own cluster; empty if this process does not run in one. */
  public static Optional<ClusterAccess> ofPod(Map<String, String> environment) {
    String host = environment.get("KUBERNETES_SERVICE_HOST");
    String port = environment.getOrDefault("KUBERNETES_SERVICE_PORT", "443");
    if (host == null || !Files.isReadable(ACCOUNT.resolve("token"))) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new ClusterAccess(
              URI.create("https://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port),
              PemTls.context(
                  Optional.of(Files.readAllBytes(ACCOUNT.resolve("ca.crt"))), Optional.empty()),
              tokenFile(ACCOUNT.resolve("token")),
              Optional.of(Files.readString(ACCOUNT.resolve("namespace")).strip())));
    } catch (IOException | IllegalArgumentException e) {
      throw unusable("the service account of this pod cannot be used: " + e.getMessage(), e);
    }
  }

  private ClusterAccess access(Optional<String> asked) throws IOException {
    String name = asked.orElseGet(() -> text(content, "current-context").orElse(""));
    Map<?, ?> context = named("contexts", name, "context");
    Map<?, ?> cluster = named("clusters", text(context, "cluster").orElse(""), "cluster");
    Map<?, ?> user =
        text(context, "user").isPresent()
            ? named("users", text(context, "user").get(), "user")
            : Map.of();
    for (String unsupported : List.of("exec", "auth-provider", "username")) {
      if (user.containsKey(unsupported)) {
        throw new IOException(
            "its user authenticates by "
                + unsupported
                + ", which is not supported; use a client certificate or the token of a service"
                + " account");
      }
    }
    if (Boolean.TRUE.equals(cluster.get("insecure-skip-tls-verify"))) {
      throw new IOException("insecure-skip-tls-verify is not supported; name the authority");
    }
    Optional<byte[]> certificate = bytes(user, "client-certificate");
    Optional<byte[]> key = bytes(user, "client-key");
    return new ClusterAccess(
        server(text(cluster, "server").orElse("")),
        PemTls.context(
            bytes(cluster, "certificate-authority"),
            certificate.flatMap(pem -> key.map(secret -> new PemTls.Identity(pem, secret)))),
        token(user),
        text(context, "namespace"));
  }

  private static URI server(String text) throws IOException {
    try {
      URI server = new URI(text.replaceFirst("/+$", ""));
      if (!"https".equals(server.getScheme()) || server.getHost() == null) {
        throw new IOException("the server '" + text + "' has no https address");
      }
      return server;
    } catch (URISyntaxException e) {
      throw new IOException("the server '" + text + "' is not an address", e);
    }
  }

  private ClusterAccess.TokenSource token(Map<?, ?> user) {
    Optional<Path> tokenFile = text(user, "tokenFile").map(this::resolve);
    if (tokenFile.isPresent()) {
      return tokenFile(tokenFile.get());
    }
    Optional<Secret> token = text(user, "token").map(Secret::of);
    return () -> token;
  }

  private static ClusterAccess.TokenSource tokenFile(Path file) {
    return () -> {
      try {
        return Optional.of(Secret.of(Files.readString(file).strip()));
      } catch (IOException e) {
        throw unusable("the token " + file + " cannot be read: " + e.getMessage(), e);
      }
    };
  }

  private Map<?, ?> named(String list, String name, String member) throws IOException {
    if (content.get(list) instanceof List<?> entries) {
      for (Object entry : entries) {
        if (entry instanceof Map<?, ?> map
            && name.equals(map.get("name"))
            && map.get(member) instanceof Map<?, ?> found) {
          return found;
        }
      }
    }
    throw new IOException("its " + list + " have no '" + name + "'");
  }

  private Optional<byte[]> bytes(Map<?, ?> map, String name) throws IOException {
    Optional<String> data = text(map, name + "-data");
    if (data.isPresent()) {
      return Optional.of(Base64.getMimeDecoder().decode(data.get()));
    }
    Optional<Path> path = text(map, name).map(this::resolve);
    return path.isPresent() ? Optional.of(Files.readAllBytes(path.get())) : Optional.empty();
  }

  /** A relative path starts at the folder of the file. */
  private Path resolve(String path) {
    return file.toAbsolutePath().resolveSibling(path);
  }

  private static Optional<String> text(Map<?, ?> map, String name) {
    return map.get(name) instanceof String text && !text.isEmpty()
        ? Optional.of(text)
        : Optional.empty();
  }

  private static SandboxException unusable(String problem, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            problem,
            "check it with kubectl, or name another file (setting kubeconfig)")
        .exception(cause);
  }
}
