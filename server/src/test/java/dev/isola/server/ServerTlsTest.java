package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import dev.isola.server.limit.RequestLimits;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
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

/** TLS with a generated certificate. */
class ServerTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private final Validity validity =
      new Validity(Instant.now().minusSeconds(60), Instant.now().plusSeconds(3600));

  @TempDir Path folder;

  /** A PEM certificate with its key, and a context that trusts it. */
  private record TestCertificate(Path certificate, Path key, SSLContext trusting) {}

  private TestCertificate generate(String algorithm) throws Exception {
    SigningCertificate generated =
        algorithm.equals("RSA")
            ? generateRsa()
            : CertificateWriter.server(
                "localhost",
                List.of("localhost", "127.0.0.1"),
                CertificateWriter.authority("authority of " + folder, validity),
                validity);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("isola", generated.certificate());
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return new TestCertificate(
        pem(algorithm + ".crt", "CERTIFICATE", generated.certificate().getEncoded()),
        pem(algorithm + ".key", "PRIVATE KEY", generated.key().getEncoded()),
        context);
  }

  private SigningCertificate generateRsa() throws Exception {
    Path file = folder.resolve("RSA.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "isola",
                "-keyalg",
                "RSA",
                "-keysize",
                "2048",
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
    String output = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(output).isZero();
    KeyStore store = KeyStore.getInstance(file.toFile(), PASSWORD);
    return new SigningCertificate(
        (X509Certificate) store.getCertificate("isola"),
        (PrivateKey) store.getKey("isola", PASSWORD));
  }

  private Path pem(String name, String kind, byte[] bytes) throws IOException {
    String text =
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(kind, Base64.getMimeEncoder().encodeToString(bytes), kind);
    return Files.writeString(folder.resolve(name), text);
  }

  private TestServer startServer(TestCertificate certificate) {
    return startServer(certificate, false);
  }

  private TestServer startServer(TestCertificate certificate, boolean allowPlaintext) {
    Optional<Tls> tls =
        Tls.of(Optional.of(certificate.certificate()), Optional.of(certificate.key()))
            .map(one -> one.allowPlaintext(allowPlaintext));
    return new TestServer(
        folder.resolve("server"),
        Duration.ofSeconds(30),
        context -> new HttpServerOptions(tls, RequestLimits.NONE, List.of(), Optional::empty),
        Map.of());
  }

  private static SSLSocket connect(SSLContext context, int port) throws IOException {
    SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    return socket;
  }

  private static String request(TestServer testServer, String method, String path, String body) {
    return "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(method, path, testServer.admin, body.length(), body);
  }

  private static TestClient.OpenResponse send(SSLSocket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(UTF_8));
    return TestClient.read(socket);
  }

  private static String text(TestClient.OpenResponse open) throws IOException {
    return new String(open.body().readAllBytes(), UTF_8);
  }

  @Test
  void serverWithTlsRejectsPlaintext() throws Exception {
    for (String algorithm : List.of("EC", "RSA")) {
      TestCertificate certificate = generate(algorithm);
      try (TestServer testServer = startServer(certificate)) {
        assertThat(testServer.server.url()).startsWith("https://127.0.0.1:");
        try (SSLSocket socket = connect(certificate.trusting(), testServer.server.port())) {
          TestClient.OpenResponse sandbox =
              send(socket, request(testServer, "POST", "/api/v1/sandboxes", "{}"));
          assertThat(sandbox.status()).as(algorithm).isEqualTo(201);
          String id = text(sandbox).split("\"id\":\"")[1].split("\"")[0];
          String exec = "/api/v1/sandboxes/" + id + "/exec";
          TestClient.OpenResponse ran =
              send(socket, request(testServer, "POST", exec, "{\"command\":\"echo hi\"}"));
          assertThat(ran.status()).isEqualTo(200);
          assertThat(text(ran)).contains("\"stdout\":\"hi\\n\"");
        }
        assertThatThrownBy(() -> testServer.client().get("/healthz"))
            .isInstanceOf(IOException.class);
        assertThatThrownBy(
                () -> connect(SSLContext.getDefault(), testServer.server.port()).startHandshake())
            .isInstanceOf(SSLHandshakeException.class);
      }
      try (var files = Files.walk(folder.resolve("server"))) {
        files.sorted((a, b) -> b.compareTo(a)).forEach(path -> path.toFile().delete());
      }
    }
  }

  @Test
  void plaintextIsAcceptedOnTheSamePortIfAllowed() throws Exception {
    TestCertificate certificate = generate("EC");
    try (TestServer testServer = startServer(certificate, true);
        SSLSocket socket = connect(certificate.trusting(), testServer.server.port())) {
      assertThat(send(socket, request(testServer, "GET", "/healthz", "")).status()).isEqualTo(200);
      assertThat(testServer.client().get("/healthz").status()).isEqualTo(200);
      assertThat(testServer.server.url()).startsWith("http://127.0.0.1:");
    }
  }

  @Test
  void certificateOfARunningServerIsReplaced() throws Exception {
    TestCertificate first = generate("EC");
    try (TestServer testServer = startServer(first);
        SSLSocket before = connect(first.trusting(), testServer.server.port())) {
      assertThat(send(before, request(testServer, "GET", "/healthz", "")).status()).isEqualTo(200);
      TestCertificate second = generate("EC");
      testServer.server.replaceCertificate(
          Tls.of(Optional.of(second.certificate()), Optional.of(second.key())).orElseThrow());
      try (SSLSocket after = connect(second.trusting(), testServer.server.port())) {
        assertThat(send(after, request(testServer, "GET", "/healthz", "")).status()).isEqualTo(200);
      }
      assertThatThrownBy(() -> connect(first.trusting(), testServer.server.port()).startHandshake())
          .isInstanceOf(SSLHandshakeException.class);
      assertThat(send(before, request(testServer, "GET", "/healthz", "")).status())
          .as("an open connection")
          .isEqualTo(200);
    }
  }

  @Test
  void commandIsKilledWhenItsTlsClientDisconnects() throws Exception {
    TestCertificate certificate = generate("EC");
    try (TestServer testServer = startServer(certificate)) {
      String id;
      try (SSLSocket socket = connect(certificate.trusting(), testServer.server.port())) {
        id =
            text(send(socket, request(testServer, "POST", "/api/v1/sandboxes", "{}")))
                .split("\"id\":\"")[1]
                .split("\"")[0];
      }
      SSLSocket client = connect(certificate.trusting(), testServer.server.port());
      client
          .getOutputStream()
          .write(
              request(
                      testServer,
                      "POST",
                      "/api/v1/sandboxes/" + id + "/exec",
                      "{\"command\":\"sleep 600\"}")
                  .getBytes(UTF_8));
      String list = "/api/v1/sandboxes/" + id + "/executions";
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> listed(testServer, certificate, list, true));
      client.close();
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> listed(testServer, certificate, list, false));
    }
  }

  private static boolean listed(
      TestServer testServer, TestCertificate certificate, String list, boolean running)
      throws IOException {
    try (SSLSocket socket = connect(certificate.trusting(), testServer.server.port())) {
      String text = text(send(socket, request(testServer, "GET", list, "")));
      return text.contains("\"running\":" + running) && !text.contains("\"running\":" + !running);
    }
  }

  @Test
  void invalidCertificateFilesAreRejected() throws Exception {
    TestCertificate certificate = generate("EC");
    TestCertificate other = generate("RSA");
    Path otherKey = Files.move(certificate.key(), folder.resolve("other.key"));
    certificate = generate("EC");
    Path nothing = folder.resolve("nothing.pem");
    Path empty = Files.writeString(folder.resolve("empty.pem"), "");
    Path old =
        Files.writeString(
            folder.resolve("old.pem"),
            "-----BEGIN EC PRIVATE KEY-----\nAA==\n-----END EC PRIVATE KEY-----\n");
    assertThat(Tls.of(Optional.empty(), Optional.empty())).isEmpty();
    for (Path[] files :
        new Path[][] {
          {certificate.certificate(), nothing},
          {nothing, certificate.key()},
          {empty, certificate.key()},
          {certificate.certificate(), empty},
          {certificate.certificate(), old},
          {certificate.certificate(), other.key()},
          {certificate.certificate(), otherKey},
          {certificate.key(), certificate.certificate()},
        }) {
      assertThatThrownBy(() -> Tls.of(Optional.of(files[0]), Optional.of(files[1])))
          .as(files[0] + " " + files[1])
          .isInstanceOf(InvalidRequest.class);
    }
    Path alone = certificate.certificate();
    assertThatThrownBy(() -> Tls.of(Optional.of(alone), Optional.empty()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("set together");
  }
}
