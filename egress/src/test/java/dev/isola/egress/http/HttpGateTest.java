package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.spi.Secret;
import dev.isola.spi.spec.HttpRule;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Real clients to a real server, by TLS, with both versions of HTTP. */
@Timeout(60)
class HttpGateTest {
  private static final String PLACEHOLDER = "isola-secret-0123456789";
  private static final String VALUE = "sk-live-/+=ABCDEFGHIJKL";
  private static final SandboxAuthority AUTHORITY =
      SandboxAuthority.create("test", InstantSource.system());

  private static TestUpstream upstream;
  private static HttpGate gate;

  private final List<AutoCloseable> resources = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // by each test
  private TestRelay relay;

  @BeforeAll
  static void start() throws Exception {
    upstream = new TestUpstream(true, "localhost", "api.example");
    gate =
        new HttpGate(
            UpstreamTrust.withAdditional(List.of(upstream.certificate())), HttpGate.Limits.DEFAULT);
  }

  @AfterAll
  static void stop() throws Exception {
    upstream.close();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable resource : resources.reversed()) {
      resource.close();
    }
  }

  private static HttpRule allow(String path) {
    return new HttpRule(List.of(), Optional.of(path), Map.of(), Map.of());
  }

  private static BoundSecret secret() {
    return new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(VALUE), true);
  }

  private void relay(List<HttpRule> rules, BoundSecret... secrets) {
    relay("localhost", upstream.port(), gate, rules, secrets);
  }

  private void relay(
      String host, int port, HttpGate by, List<HttpRule> rules, BoundSecret... secrets) {
    TestRelay[] self = new TestRelay[1];
    relay =
        new TestRelay(
            guest ->
                by.serve(
                    guest,
                    new HttpGate.Target(host, self[0].port(), rules, List.of(secrets), AUTHORITY),
                    () ->
                        SocketChannel.open(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), port)),
                    self[0].observer()));
    self[0] = relay;
    resources.add(relay);
  }

  static SSLContext clientTls(String pem) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry(
        "sandbox",
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(pem.getBytes(ISO_8859_1))));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private HttpClient client(Version version) throws Exception {
    HttpClient client =
        HttpClient.newBuilder()
            .version(version)
            .sslContext(clientTls(AUTHORITY.certificatePem()))
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    resources.add(client::shutdownNow);
    return client;
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("https://localhost:" + relay.port() + path))
        .timeout(Duration.ofSeconds(10));
  }

  private static HttpResponse<String> send(HttpClient client, HttpRequest.Builder request)
      throws Exception {
    return client.send(request.build(), BodyHandlers.ofString(ISO_8859_1));
  }

  @ParameterizedTest
  @EnumSource(
      value = Version.class,
      names = {"HTTP_1_1", "HTTP_2"})
  void rulesHoldForEachRequest(Version version) throws Exception {
    relay(List.of(allow("/v1/*")));
    HttpClient client = client(version);
    HttpResponse<String> allowed =
        send(client, request("/v1/a?b=c").POST(BodyPublishers.ofString("hello")));
    assertThat(allowed.statusCode()).isEqualTo(200);
    assertThat(allowed.version()).isEqualTo(version);
    assertThat(allowed.body()).contains("POST /v1/a?b=c\n").endsWith("\n\nhello");
    HttpResponse<String> denied =
        send(client, request("/admin").POST(BodyPublishers.ofString("hello")));
    assertThat(denied.statusCode()).isEqualTo(403);
    assertThat(denied.headers().firstValue("content-type")).hasValue("application/problem+json");
    assertThat(denied.body()).contains("no HTTP rule allows this request");
    assertThat(send(client, request("/v1/%2e%2e/x")).statusCode()).isEqualTo(403);
    assertThat(send(client, request("/v1/again")).statusCode()).isEqualTo(200);
    assertThat(relay.events())
        .containsExactly(
            "allowed POST /v1/a 200",
            "denied POST /admin no HTTP rule allows this request to localhost",
            "denied GET /v1/%2e%2e/x no HTTP rule allows this request: its path is ambiguous: it"
                + " contains '.' or '..' as a segment to localhost",
            "allowed GET /v1/again 200");
  }

  @ParameterizedTest
  @EnumSource(
      value = Version.class,
      names = {"HTTP_1_1", "HTTP_2"})
  void secretsAreReplacedInBothDirections(Version version) throws Exception {
    relay(List.of(), secret());
    HttpClient client = client(version);
    String basic = Base64.getEncoder().encodeToString(("u:" + PLACEHOLDER).getBytes(ISO_8859_1));
    HttpResponse<String> response =
        send(
            client,
            request("/echo?key=" + PLACEHOLDER)
                .header("x-key", PLACEHOLDER)
                .header("authorization", "Basic " + basic)
                .POST(BodyPublishers.ofString("a " + PLACEHOLDER + " b")));
    assertThat(response.headers().firstValue("x-reversed"))
        .as("the server has the value")
        .hasValue(new StringBuilder(VALUE).reverse().toString());
    assertThat(response.headers().firstValue("x-echo")).hasValue(PLACEHOLDER);
    assertThat(response.body())
        .contains("accept-encoding: identity")
        .contains("authorization: Basic " + basic + "\n")
        .contains("?key=" + PLACEHOLDER)
        .contains("x-key: " + PLACEHOLDER)
        .endsWith("a " + PLACEHOLDER + " b");
    assertThat(send(client, request("/gzip")).statusCode()).isEqualTo(502);
    assertThat(send(client, request("/echo")).statusCode()).isEqualTo(200);
    assertThat(relay.events().toString()).doesNotContain("sk-live");
    relay(List.of());
    response = send(client(version), request("/gzip").header("x-key", PLACEHOLDER));
    assertThat(response.statusCode()).as("control without the secret").isEqualTo(200);
    assertThat(response.headers().firstValue("x-reversed"))
        .hasValue(new StringBuilder(PLACEHOLDER).reverse().toString());
  }

  /** Publishes pieces one by one, so that each is a frame or a chunk of its own. */
  private static HttpRequest.BodyPublisher pieces(String... pieces) {
    return BodyPublishers.fromPublisher(
        BodyPublishers.concat(
            Stream.of(pieces)
                .map(BodyPublishers::ofString)
                .toArray(HttpRequest.BodyPublisher[]::new)));
  }

  @ParameterizedTest
  @EnumSource(
      value = Version.class,
      names = {"HTTP_1_1", "HTTP_2"})
  void placeholderIsReplacedWhereverItIsSplit(Version version) throws Exception {
    relay(List.of(), secret());
    HttpClient client = client(version);
    String body = "<" + PLACEHOLDER + ">" + PLACEHOLDER;
    for (int at = 0; at <= body.length(); at++) {
      HttpResponse<String> response =
          send(
              client,
              request("/split/" + at).POST(pieces(body.substring(0, at), body.substring(at))));
      assertThat(response.body()).as("both directions, at " + at).isEqualTo(body);
      HttpResponse<String> count =
          send(client, request("/count").POST(pieces(body.substring(0, at), body.substring(at))));
      assertThat(count.body()).isEqualTo(Integer.toString(body.length()));
    }
    assertThat(relay.events()).allMatch(event -> event.startsWith("allowed"));
  }

  @ParameterizedTest
  @EnumSource(
      value = Version.class,
      names = {"HTTP_1_1", "HTTP_2"})
  void largeBodiesStreamInBothDirections(Version version) throws Exception {
    relay(List.of(), secret());
    HttpClient client = client(version);
    int size = 8_000_000;
    HttpResponse<InputStream> response =
        client.send(request("/size?" + size).build(), BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      assertThat(in.transferTo(OutputStream.nullOutputStream())).isEqualTo(size);
    }
    assertThat(
            send(client, request("/count").POST(BodyPublishers.ofByteArray(new byte[size]))).body())
        .isEqualTo(Integer.toString(size));
  }

  /** Denied and allowed requests at once, with bodies: credit is neither lost nor invented. */
  @Test
  void manyStreamsShareAConnection() throws Exception {
    relay(List.of(allow("/size"), allow("/count")), secret());
    HttpClient client = client(Version.HTTP_2);
    assertThat(send(client, request("/count")).version()).isEqualTo(Version.HTTP_2);
    byte[] body = new byte[100_000];
    for (int round = 0; round < 10; round++) {
      List<CompletableFuture<HttpResponse<byte[]>>> responses = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        String path =
            switch (i % 3) {
              case 0 -> "/size?100000";
              case 1 -> "/count";
              default -> "/denied";
            };
        responses.add(
            client.sendAsync(
                (i % 3 == 0 ? request(path) : request(path).POST(BodyPublishers.ofByteArray(body)))
                    .build(),
                BodyHandlers.ofByteArray()));
      }
      for (int i = 0; i < 30; i++) {
        HttpResponse<byte[]> response = responses.get(i).get();
        assertThat(response.statusCode()).isEqualTo(i % 3 == 2 ? 403 : 200);
        if (i % 3 == 0) {
          assertThat(response.body()).hasSize(100_000);
        } else if (i % 3 == 1) {
          assertThat(new String(response.body(), UTF_8)).isEqualTo("100000");
        }
      }
    }
  }

  @Test
  void serverWithoutHttp2IsSpokenToByHttp1() throws Exception {
    try (TestUpstream old = new TestUpstream(false, "localhost")) {
      HttpGate other =
          new HttpGate(
              UpstreamTrust.withAdditional(List.of(old.certificate())), HttpGate.Limits.DEFAULT);
      relay("localhost", old.port(), other, List.of());
      HttpResponse<String> response = send(client(Version.HTTP_2), request("/echo"));
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.version()).isEqualTo(Version.HTTP_1_1);
    }
  }

  @Test
  void certificateOfTheServerIsVerified() throws Exception {
    try (TestUpstream wrongName = new TestUpstream(true, "other.example")) {
      HttpGate trusting =
          new HttpGate(
              UpstreamTrust.withAdditional(List.of(wrongName.certificate())),
              HttpGate.Limits.DEFAULT);
      relay("localhost", wrongName.port(), trusting, List.of());
      HttpResponse<String> response = send(client(Version.HTTP_2), request("/echo"));
      assertThat(response.statusCode()).isEqualTo(502);
      assertThat(response.body()).contains("TLS failed");
      relay("localhost", wrongName.port(), gate, List.of());
      assertThat(send(client(Version.HTTP_1_1), request("/echo")).statusCode()).isEqualTo(502);
    }
  }

  @Test
  void handshakeForAnotherNameIsDenied() throws Exception {
    relay(List.of());
    for (String name : List.of("localhost", "other.example")) {
      try (SSLSocket socket =
          (SSLSocket)
              clientTls(AUTHORITY.certificatePem())
                  .getSocketFactory()
                  .createSocket(InetAddress.getLoopbackAddress(), relay.port())) {
        socket.setSoTimeout(10_000);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        socket.setSSLParameters(parameters);
        if (name.equals("localhost")) {
          socket.startHandshake();
        } else {
          assertThatThrownBy(socket::startHandshake)
              .isInstanceOf(SSLException.class)
              .hasMessageContaining("unrecognized_name");
        }
      }
    }
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(relay.events())
                    .contains("denied   the client asked by TLS (SNI) for another host"));
  }

  @Test
  void clientThatDoesNotTrustTheAuthorityIsReported() throws Exception {
    relay(List.of());
    HttpClient stranger =
        HttpClient.newBuilder()
            .sslContext(
                clientTls(
                    SandboxAuthority.create("other", InstantSource.system()).certificatePem()))
            .build();
    assertThatThrownBy(() -> send(stranger, request("/"))).isInstanceOf(IOException.class);
    stranger.shutdownNow();
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(relay.events().toString()).contains("add the host to bypass"));
  }

  @Test
  void deniedConnectionIsToldWhyWithinTls() throws Exception {
    relay =
        new TestRelay(
            guest -> gate.refuse(guest, "localhost", 443, AUTHORITY, "no rule", "ask for one"));
    resources.add(relay);
    HttpResponse<String> response =
        send(client(Version.HTTP_2), request("/x").POST(BodyPublishers.ofString("hello")));
    assertThat(response.statusCode()).isEqualTo(403);
    assertThat(response.body()).contains("\"detail\":\"no rule\"").contains("ask for one");
    HttpRequest plain =
        HttpRequest.newBuilder(URI.create("http://localhost:" + relay.port() + "/")).build();
    assertThat(client(Version.HTTP_1_1).send(plain, BodyHandlers.ofString()).statusCode())
        .isEqualTo(403);
  }

  /** A first message costs a guest process nothing, since it can send the same one each time. */
  @Test
  void handshakesOfDeniedConnectionsAreFew() throws Exception {
    SandboxAuthority few =
        SandboxAuthority.create("few", InstantSource.fixed(Instant.parse("2026-01-31T12:00:00Z")));
    relay =
        new TestRelay(guest -> gate.refuse(guest, "localhost", 443, few, "no rule", "ask for one"));
    resources.add(relay);
    byte[] hello = ClientHelloTest.hello("localhost");
    int answered = 0;
    for (int i = 0; i < 200; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
        socket.setSoTimeout(10_000);
        socket.getOutputStream().write(hello);
        answered += socket.getInputStream().read() < 0 ? 0 : 1;
      } catch (SocketException e) {
        // A reset: not answered.
      }
    }
    assertThat(answered).isEqualTo(64);
  }

  @Test
  void handshakesThatAreNotCompletedAreFew() throws Exception {
    SandboxAuthority few =
        SandboxAuthority.create("few", InstantSource.fixed(Instant.parse("2026-01-31T12:00:00Z")));
    int began = 0;
    while (few.handshakes().take()) {
      began++;
    }
    assertThat(began).isEqualTo(256);
    TestRelay[] self = new TestRelay[1];
    relay =
        new TestRelay(
            guest ->
                gate.serve(
                    guest,
                    new HttpGate.Target("localhost", 443, List.of(), List.of(), few),
                    () -> {
                      throw new IOException("not reached");
                    },
                    self[0].observer()));
    self[0] = relay;
    resources.add(relay);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(ClientHelloTest.hello("localhost"));
      assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
      socket.setSoTimeout(10_000);
      socket.getOutputStream().write(ClientHelloTest.hello("other.example"));
      assertThat(socket.getInputStream().readNBytes(7)).endsWith(2, 112);
    }
    assertThat(relay.events())
        .containsExactlyInAnyOrder(
            "denied   the sandbox begins more TLS handshakes than it completes",
            "denied   the client asked by TLS (SNI) for another host");
  }

  @Test
  void curlWorksWithBothVersions(@TempDir Path folder) throws Exception {
    Path curl = Path.of("/usr/bin/curl");
    assumeTrue(Files.isExecutable(curl), "NOT RUN: no curl");
    Path certificate = Files.writeString(folder.resolve("ca.pem"), AUTHORITY.certificatePem());
    relay("api.example", upstream.port(), gate, List.of(allow("/echo")), secret());
    for (String version : List.of("--http1.1", "--http2")) {
      Process process =
          new ProcessBuilder(
                  curl.toString(),
                  "-sS",
                  version,
                  "--max-time",
                  "10",
                  "--cacert",
                  certificate.toString(),
                  "--resolve",
                  "api.example:" + relay.port() + ":127.0.0.1",
                  "-H",
                  "x-key: " + PLACEHOLDER,
                  "-w",
                  "%{http_code} %{http_version}\n",
                  "-d",
                  "body " + PLACEHOLDER,
                  "https://api.example:" + relay.port() + "/echo",
                  "https://api.example:" + relay.port() + "/no")
              .redirectErrorStream(true)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), ISO_8859_1);
      assertThat(process.waitFor()).as(output).isZero();
      String number = version.equals("--http2") ? "2" : "1.1";
      assertThat(output)
          .contains("body " + PLACEHOLDER + "200 " + number)
          .contains("403 " + number)
          .contains("no HTTP rule allows this request");
    }
  }
}
