package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.server.limit.RequestLimits;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS by config, with a certificate that was made here. */
class ServerTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir Path folder;

  /** A certificate and its key as PEM, and who trusts it. */
  private record TestCertificate(Path certificate, Path key, SSLContext trusting) {}

  private TestCertificate make(String algorithm) throws Exception {
    Path file = folder.resolve(algorithm + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "isola",
                "-keyalg",
                algorithm,
                "-keysize",
                algorithm.equals("RSA") ? "2048" : "256",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-keystore",
                file.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
    KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD);
    Path certificate =
        pem(algorithm + ".crt", "CERTIFICATE", store.getCertificate("isola").getEncoded());
    Path key = pem(algorithm + ".key", "PRIVATE KEY", store.getKey("isola", PASSWORD).getEncoded());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("isola", store.getCertificate("isola"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return new TestCertificate(certificate, key, context);
  }

  private Path pem(String name, String kind, byte[] bytes) throws IOException {
    String text =
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(kind, Base64.getMimeEncoder().encodeToString(bytes), kind);
    return Files.writeString(folder.resolve(name), text);
  }

  private TestServer house(TestCertificate made) {
    return house(made, false);
  }

  private TestServer house(TestCertificate made, boolean orPlain) {
    Optional<Tls> tls =
        Tls.of(Optional.of(made.certificate()), Optional.of(made.key()))
            .map(one -> one.allowPlaintext(orPlain));
    return new TestServer(
        folder.resolve("house"),
        Duration.ofSeconds(30),
        serving -> new HttpServerOptions(tls, RequestLimits.NONE, List.of(), Optional::empty),
        Map.of());
  }

  private static SSLSocket connect(SSLContext context, int port) throws IOException {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    return socket;
  }

  private static String request(TestServer house, String method, String path, String body) {
    return "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(method, path, house.admin, body.length(), body);
  }

  private static TestClient.OpenResponse ask(SSLSocket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(UTF_8));
    return TestClient.read(socket);
  }

  private static String text(TestClient.OpenResponse open) throws IOException {
    return new String(open.body().readAllBytes(), UTF_8);
  }

  @Test
  void servesOverTlsAndNothingElse() throws Exception {
    for (String algorithm : List.of("EC", "RSA")) {
      TestCertificate made = make(algorithm);
      try (TestServer house = house(made)) {
        assertThat(house.server.url()).startsWith("https://127.0.0.1:");
        try (SSLSocket socket = connect(made.trusting(), house.server.port())) {
          TestClient.OpenResponse sandbox =
              ask(socket, request(house, "POST", "/api/v1/sandboxes", "{}"));
          assertThat(sandbox.status()).as(algorithm).isEqualTo(201);
          String id = text(sandbox).split("\"id\":\"")[1].split("\"")[0];
          String exec = "/api/v1/sandboxes/" + id + "/exec";
          TestClient.OpenResponse ran =
              ask(socket, request(house, "POST", exec, "{\"command\":\"echo hi\"}"));
          assertThat(ran.status()).isEqualTo(200);
          assertThat(text(ran)).contains("\"stdout\":\"hi\\n\"");
        }
        assertThatThrownBy(() -> house.client().get("/healthz")).isInstanceOf(IOException.class);
        assertThatThrownBy(
                () -> connect(SSLContext.getDefault(), house.server.port()).startHandshake())
            .isInstanceOf(SSLHandshakeException.class);
      }
      try (var files = Files.walk(folder.resolve("house"))) {
        files.sorted((a, b) -> b.compareTo(a)).forEach(path -> path.toFile().delete());
      }
    }
  }

  @Test
  void plainHttpComesInByTheSamePortWhereThatIsAllowed() throws Exception {
    TestCertificate made = make("EC");
    try (TestServer house = house(made, true);
        SSLSocket socket = connect(made.trusting(), house.server.port())) {
      assertThat(ask(socket, request(house, "GET", "/healthz", "")).status()).isEqualTo(200);
      assertThat(house.client().get("/healthz").status()).isEqualTo(200);
    }
  }

  @Test
  void aCommandEndsWithTheClientThatWantedItOverTlsToo() throws Exception {
    TestCertificate made = make("EC");
    try (TestServer house = house(made)) {
      String id;
      try (SSLSocket socket = connect(made.trusting(), house.server.port())) {
        id =
            text(ask(socket, request(house, "POST", "/api/v1/sandboxes", "{}")))
                .split("\"id\":\"")[1]
                .split("\"")[0];
      }
      SSLSocket leaving = connect(made.trusting(), house.server.port());
      leaving
          .getOutputStream()
          .write(
              request(
                      house,
                      "POST",
                      "/api/v1/sandboxes/" + id + "/exec",
                      "{\"command\":\"sleep 600\"}")
                  .getBytes(UTF_8));
      String list = "/api/v1/sandboxes/" + id + "/executions";
      await().atMost(Duration.ofSeconds(20)).until(() -> listed(house, made, list, true));
      leaving.close();
      await().atMost(Duration.ofSeconds(20)).until(() -> listed(house, made, list, false));
    }
  }

  private static boolean listed(
      TestServer house, TestCertificate made, String list, boolean running) throws IOException {
    try (SSLSocket socket = connect(made.trusting(), house.server.port())) {
      String text = text(ask(socket, request(house, "GET", list, "")));
      return text.contains("\"running\":" + running) && !text.contains("\"running\":" + !running);
    }
  }

  @Test
  void saysWhatIsWrongWithTheFiles() throws Exception {
    TestCertificate made = make("EC");
    TestCertificate other = make("RSA");
    Path stranger = Files.move(made.key(), folder.resolve("stranger.key"));
    Files.delete(folder.resolve("EC.p12"));
    made = make("EC");
    Path nothing = folder.resolve("nothing.pem");
    Path empty = Files.writeString(folder.resolve("empty.pem"), "");
    Path old =
        Files.writeString(
            folder.resolve("old.pem"),
            "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n");
    assertThat(Tls.of(Optional.empty(), Optional.empty())).isEmpty();
    for (Path[] files :
        new Path[][] {
          {made.certificate(), nothing},
          {nothing, made.key()},
          {empty, made.key()},
          {made.certificate(), empty},
          {made.certificate(), old},
          {made.certificate(), other.key()},
          {made.certificate(), stranger},
          {made.key(), made.certificate()},
        }) {
      assertThatThrownBy(() -> Tls.of(Optional.of(files[0]), Optional.of(files[1])))
          .as(files[0] + " " + files[1])
          .isInstanceOf(InvalidRequest.class);
    }
    Path alone = made.certificate();
    assertThatThrownBy(() -> Tls.of(Optional.of(alone), Optional.empty()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("set together");
  }
}
