package dev.isola.app.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.app.LiveServer;
import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A1: a server with {@code e2b.domain} serves the names of the domain by TLS. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class E2bDomainTest {
  private static final String DOMAIN = "e2b.localhost";

  @TempDir static Path data;
  private LiveServer server;
  private int port;

  @BeforeAll
  void start() {
    server =
        LiveServer.start(
            data,
            new SubprocessProviderFactory(),
            "floor=process",
            "shutdown=drain",
            "e2b.allow_insecure=true",
            "e2b.domain=" + DOMAIN);
    port = URI.create(server.url).getPort();
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private static SSLContext trusting(Path authority) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream in = Files.newInputStream(authority)) {
      store.setCertificateEntry(
          "isola", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private SSLContext trustingTheServer() throws Exception {
    return trusting(data.resolve("e2b-tls").resolve(DOMAIN).resolve("ca.pem"));
  }

  /** Sends a request to a name, which is checked against the certificate but not resolved. */
  private String send(SSLContext context, String name, String method, String path, String body)
      throws IOException {
    Socket plain = new Socket(InetAddress.getLoopbackAddress(), port);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket(plain, name, port, true)) {
      socket.setSoTimeout(60_000);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
      socket
          .getOutputStream()
          .write(
              """
              %s %s HTTP/1.1\r
              Host: %s:%d\r
              X-API-KEY: %s\r
              Content-Type: application/json\r
              Content-Length: %d\r
              Connection: close\r
              \r
              %s"""
                  .formatted(method, path, name, port, LiveServer.KEY, body.length(), body)
                  .getBytes(UTF_8));
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  @Test
  void namesOfTheDomainAreServedByTls() throws Exception {
    SSLContext context = trustingTheServer();
    String made =
        send(context, "api." + DOMAIN, "POST", "/v2/sandboxes", "{\"templateID\":\"host\"}");
    assertThat(made)
        .startsWith("HTTP/1.1 201")
        .contains("\"domain\":\"" + DOMAIN + ":" + port + "\"");
    String id = made.split("\"sandboxID\":\"")[1].split("\"")[0];
    assertThat(send(context, "49983-" + id + "." + DOMAIN, "GET", "/health", ""))
        .startsWith("HTTP/1.1 204");
    assertThat(send(context, "1-" + id + "." + DOMAIN, "GET", "/", ""))
        .startsWith("HTTP/1.1 502")
        .contains("port is not open");
    assertThat(send(context, DOMAIN, "DELETE", "/sandboxes/" + id, "")).startsWith("HTTP/1.1 204");
  }

  @Test
  void insecureSandboxesAreAllowedByASettingWithAWarning() throws Exception {
    assertThat(server.log()).contains("e2b.allow_insecure is on: every client");
    SSLContext context = trustingTheServer();
    String api = "api." + DOMAIN;
    String made = send(context, api, "POST", "/sandboxes", "{\"templateID\":\"host\"}");
    String id = made.split("\"sandboxID\":\"")[1].split("\"")[0];
    String marked = "/sandboxes?metadata=isola.e2b.insecure%3D" + id;
    assertThat(send(context, api, "GET", marked, "")).contains("\"sandboxID\":\"" + id + "\"");
    String name = "49983-" + id + "-isola." + DOMAIN;
    assertThat(send(context, name, "GET", "/health", "")).startsWith("HTTP/1.1 204");
    assertThat(send(context, name, "GET", "/envs", ""))
        .as("a sandbox without isolation needs its token")
        .startsWith("HTTP/1.1 401");
    assertThat(send(context, api, "DELETE", "/sandboxes/" + id + "-isola", ""))
        .startsWith("HTTP/1.1 204");
  }

  @Test
  void certificateIsValidForTheDomainOnlyAndFromThisAuthorityOnly() throws Exception {
    SSLContext context = trustingTheServer();
    for (String foreign : List.of("localhost", "127.0.0.1", "a.b." + DOMAIN, "example.com")) {
      assertThatThrownBy(() -> send(context, foreign, "GET", "/healthz", ""))
          .as(foreign)
          .isInstanceOf(SSLHandshakeException.class);
    }
    assertThatThrownBy(() -> send(SSLContext.getDefault(), "api." + DOMAIN, "GET", "/healthz", ""))
        .isInstanceOf(SSLHandshakeException.class);
  }

  @Test
  void loopbackAlsoAcceptsPlainHttpAndTheLogHoldsNoKey() throws Exception {
    assertThat(server.url).startsWith("http://127.0.0.1:");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(60_000);
      socket
          .getOutputStream()
          .write("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n".getBytes(UTF_8));
      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 200");
    }
    assertThat(server.log())
        .contains("created a certificate authority for " + DOMAIN, "E2B_DOMAIN=" + DOMAIN)
        .doesNotContain("PRIVATE KEY");
  }

  private static Path pem(Path file, String kind, byte[] content) throws IOException {
    return Files.writeString(
        file,
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(kind, Base64.getMimeEncoder().encodeToString(content), kind));
  }

  @Test
  void configuredCertificateIsUsedInstead(@TempDir Path other) throws Exception {
    Validity today =
        new Validity(Instant.now().minusSeconds(60), Instant.now().plus(Duration.ofDays(1)));
    SigningCertificate authority = CertificateWriter.authority("Operator CA", DOMAIN, today);
    SigningCertificate own =
        CertificateWriter.server("Operator", List.of("*." + DOMAIN), authority, today);
    Path trusted =
        pem(other.resolve("ca.pem"), "CERTIFICATE", authority.certificate().getEncoded());
    Path certificate = pem(other.resolve("own.pem"), "CERTIFICATE", own.certificate().getEncoded());
    Path key = pem(other.resolve("own.key"), "PRIVATE KEY", own.key().getEncoded());
    Path folder = other.resolve("data");
    try (LiveServer configured =
        LiveServer.start(
            folder,
            new SubprocessProviderFactory(),
            "floor=process",
            "e2b.domain=" + DOMAIN,
            "server.tls.cert=" + certificate,
            "server.tls.key=" + key)) {
      assertThat(configured.url).as("TLS only").startsWith("https://");
      assertThat(folder.resolve("e2b-tls")).doesNotExist();
      try (SSLSocket socket =
          (SSLSocket)
              trusting(trusted)
                  .getSocketFactory()
                  .createSocket(
                      InetAddress.getLoopbackAddress(), URI.create(configured.url).getPort())) {
        socket.startHandshake();
        X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
        assertThat(shown.getSubjectX500Principal().getName()).isEqualTo("CN=Operator");
      }
    }
  }
}
