package dev.isola.app.operate;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import dev.isola.codec.x509.PemTls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executors;

/**
 * An API server with prepared objects, by path. It answers access reviews, remembers what they ask
 * for, and accepts every object that is created.
 */
final class FakeKubernetesApi implements AutoCloseable {
  private static final String REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

  private final HttpsServer server;
  private final byte[] authority;
  private final Map<String, String> objects = new ConcurrentHashMap<>();
  private final Set<String> forbidden = ConcurrentHashMap.newKeySet();
  private final Set<String> reviews = new ConcurrentSkipListSet<>();
  private final Set<String> denied = ConcurrentHashMap.newKeySet();

  FakeKubernetesApi() throws IOException, CertificateEncodingException {
    Validity validity =
        new Validity(
            Instant.now().minus(Duration.ofHours(1)), Instant.now().plus(Duration.ofHours(1)));
    SigningCertificate root = CertificateWriter.authority("fake cluster", validity);
    SigningCertificate leaf =
        CertificateWriter.server("127.0.0.1", List.of("127.0.0.1"), root, validity);
    authority = pem("CERTIFICATE", root.certificate().getEncoded());
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(
            PemTls.context(
                Optional.empty(),
                Optional.of(
                    new PemTls.Identity(
                        pem("CERTIFICATE", leaf.certificate().getEncoded()),
                        pem("PRIVATE KEY", leaf.key().getEncoded()))))));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
    object("/version", Map.of("gitVersion", "v1.36.3"));
  }

  private static byte[] pem(String type, byte[] content) {
    return ("-----BEGIN "
            + type
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
            + "\n-----END "
            + type
            + "-----\n")
        .getBytes(UTF_8);
  }

  void object(String path, Map<String, ?> content) {
    objects.put(path, Json.text(content));
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  final void items(String path, Map<String, ?>... content) {
    object(path, Map.of("items", List.of(content)));
  }

  void forbid(String path) {
    forbidden.add(path);
  }

  /** Refuses a permission, such as {@code create pods}. */
  void deny(String permission) {
    denied.add(permission);
  }

  /** Returns the permissions that access reviews have asked for. */
  Set<String> reviews() {
    return new TreeSet<>(reviews);
  }

  /** Writes a kubeconfig for this server. */
  Path kubeconfig(Path folder, String namespace) throws IOException {
    Path file = folder.resolve("kubeconfig");
    Files.writeString(
        file,
        """
        apiVersion: v1
        kind: Config
        current-context: fake
        contexts: [{name: fake, context: {cluster: fake, user: fake, namespace: %s}}]
        clusters: [{name: fake, cluster: {server: "https://127.0.0.1:%d", certificate-authority-data: %s}}]
        users: [{name: fake, user: {token: fake}}]
        """
            .formatted(
                namespace,
                server.getAddress().getPort(),
                Base64.getEncoder().encodeToString(authority)));
    return file;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      byte[] body = exchange.getRequestBody().readAllBytes();
      if (forbidden.contains(path)) {
        respond(exchange, 403, Json.text(Map.of("message", "not allowed to read " + path)));
      } else if (path.equals(REVIEWS)) {
        respond(exchange, 201, review(JsonValue.parse(body)));
      } else if (exchange.getRequestMethod().equals("POST")) {
        respond(exchange, 201, new String(body, UTF_8));
      } else if (objects.containsKey(path)) {
        respond(exchange, 200, objects.get(path));
      } else {
        respond(exchange, 404, Json.text(Map.of("message", path + " not found")));
      }
    }
  }

  private String review(JsonValue request) {
    JsonValue asked = request.at("spec", "resourceAttributes");
    String group = asked.text("group");
    String subresource = asked.text("subresource");
    String permission =
        asked.text("verb")
            + " "
            + asked.text("resource")
            + (subresource.isEmpty() ? "" : "/" + subresource)
            + (group.isEmpty() ? "" : "." + group);
    reviews.add(permission);
    return Json.text(Map.of("status", Map.of("allowed", !denied.contains(permission))));
  }

  private static void respond(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
