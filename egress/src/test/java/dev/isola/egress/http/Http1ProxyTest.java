package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Secret;
import dev.isola.spi.spec.HttpRule;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP/1.1 without TLS, byte by byte. */
@Timeout(30)
class Http1ProxyTest {
  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  private static final String HOST = "api.example";
  private static final String PLACEHOLDER = "isola-secret-0123456789";
  private static final String VALUE = "sk-live-/+=ABCDEFGHIJKL";
  private static final SandboxAuthority AUTHORITY =
      SandboxAuthority.create("test", InstantSource.system());
  private static final UpstreamTrust TRUST = UpstreamTrust.withAdditional(List.of());

  private final List<AutoCloseable> resources = new ArrayList<>();
  private HttpGate.Limits limits = HttpGate.Limits.DEFAULT;

  @SuppressWarnings("NullAway.Init") // by each test
  private TestRelay relay;

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable resource : resources) {
      resource.close();
    }
  }

  private <T extends AutoCloseable> T use(T resource) {
    resources.add(resource);
    return resource;
  }

  private static HttpRule allow(String method, String path) {
    return new HttpRule(List.of(method), Optional.of(path), Map.of(), Map.of());
  }

  private static BoundSecret secret() {
    return new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(VALUE), true);
  }

  private Socket connect(RawServer server, List<HttpRule> rules, BoundSecret... secrets)
      throws IOException {
    HttpGate gate = new HttpGate(TRUST, limits);
    TestRelay[] self = new TestRelay[1];
    relay =
        use(
            new TestRelay(
                guest ->
                    gate.serve(
                        guest,
                        new HttpGate.Target(HOST, 80, rules, List.of(secrets), AUTHORITY),
                        () ->
                            SocketChannel.open(
                                new InetSocketAddress(
                                    InetAddress.getLoopbackAddress(), server.port())),
                        self[0].observer())));
    self[0] = relay;
    Socket client = use(new Socket(InetAddress.getLoopbackAddress(), relay.port()));
    client.setSoTimeout(10_000); // An interrupt of @Timeout does not end a read.
    return client;
  }

  private static void send(Socket socket, String text) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(text.getBytes(ISO_8859_1));
    out.flush();
  }

  private static String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: " + HOST + "\r\n\r\n";
  }

  /** Reads a response with a length, as it is. */
  private static String response(Socket socket) throws IOException {
    return RawServer.readRequest(socket.getInputStream());
  }

  private static String rest(Socket socket) throws IOException {
    return new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
  }

  @Test
  void allowedRequestArrivesUnchangedAndDeniedOneIsToldWhy() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(allow("GET", "/v1/*")));
    send(client, get("/v1/items?q=1"));
    assertThat(response(client)).isEqualTo(OK);
    assertThat(server.request()).isEqualTo(get("/v1/items?q=1"));
    send(client, get("/admin"));
    assertThat(response(client))
        .startsWith("HTTP/1.1 403 Forbidden\r\ncontent-type: application/problem+json\r\n")
        .contains("no HTTP rule allows this request to api.example")
        .contains("ask for a rule that allows GET /admin on api.example");
    send(client, get("/v1/again"));
    assertThat(response(client)).as("the connection stays usable").isEqualTo(OK);
    assertThat(server.request()).startsWith("GET /v1/again");
    assertThat(relay.events())
        .containsExactly(
            "allowed GET /v1/items 200",
            "denied GET /admin no HTTP rule allows this request to api.example",
            "allowed GET /v1/again 200");
  }

  @RepeatedTest(20)
  void denialsAndResponsesOfPipelinedRequestsKeepTheirOrder() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(allow("GET", "/ok")));
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      all.append(get(i % 3 == 1 ? "/no" : "/ok"));
    }
    send(client, all.toString());
    for (int i = 0; i < 40; i++) {
      assertThat(response(client)).startsWith(i % 3 == 1 ? "HTTP/1.1 403" : "HTTP/1.1 200");
    }
  }

  @Test
  void bodyOfDeniedRequestIsNotTheNextRequest() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(allow("GET", "/ok")));
    String inner = get("/ok");
    send(
        client,
        "POST /no HTTP/1.1\r\nHost: api.example\r\nContent-Length: "
            + inner.length()
            + "\r\n\r\n"
            + inner
            + get("/ok"));
    assertThat(response(client)).startsWith("HTTP/1.1 403");
    assertThat(response(client)).startsWith("HTTP/1.1 200");
    send(
        client,
        "POST /no HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n"
            + get("/ok"));
    assertThat(response(client)).startsWith("HTTP/1.1 403");
    assertThat(response(client)).startsWith("HTTP/1.1 200");
    server.request();
    server.request();
    assertThat(server.hasRequests()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /ok HTTP/1.1\nHost: api.example\n\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nA: b\nC: d\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\n\rA: b\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nA: b\r\n c\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost : api.example\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nA\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\n: a\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nA: b\u0000\r\n\r\n",
        "GET /ok HTTP/1.1\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nHost: other.example\r\n\r\n",
        "GET  /ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET /ok  HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET /ok\r\nHost: api.example\r\n\r\n",
        "GET /ok HTTP/2.0\r\nHost: api.example\r\n\r\n",
        "GET /ok HTTP/1.2\r\nHost: api.example\r\n\r\n",
        "GET\t/ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5, 5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: +5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: -5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: 0x5\r\n\r\nhello",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: identity\r\n\r\n",
        "GET /ok HTTP/1.0\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "\r\nGET /ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
      })
  void ambiguousRequestIsRefused(String request) throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(allow("GET", "/ok")));
    send(client, get("/ok"));
    assertThat(response(client)).as("control").isEqualTo(OK);
    server.request();
    send(client, request);
    assertThat(response(client)).startsWith("HTTP/1.1 400 Bad Request");
    assertThat(rest(client)).isEmpty();
    assertThat(server.hasRequests()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "5 \r\nhello\r\n",
        "0x5\r\nhello\r\n",
        "5\nhello\r\n",
        "4\r\nhello\r\n",
        "-5\r\nhello\r\n",
        "\r\nhello\r\n",
        "fffffffffffffffff\r\nhello\r\n",
        "5;a=\u0001\r\nhello\r\n"
      })
  void invalidChunkEndsTheConnection(String chunk) throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    String head = "POST /ok HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    send(client, head + "5;ext=1\r\nhello\r\n0\r\n\r\n");
    assertThat(response(client)).as("control").isEqualTo(OK);
    assertThat(server.request()).endsWith("\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    send(client, head + chunk + "0\r\n\r\n" + get("/ok"));
    assertThat(endOf(client)).doesNotContain("200 OK");
    assertThat(server.hasRequests()).isFalse();
  }

  private static String endOf(Socket client) throws IOException {
    try {
      return rest(client);
    } catch (SocketException reset) {
      return "";
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /ok HTTP/1.1\r\nHost: other.example\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example:8080\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: api.example.\r\n\r\n",
        "GET /ok HTTP/1.1\r\nHost: user@api.example\r\n\r\n",
        "GET http://other.example/ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET http://api.example/ok HTTP/1.1\r\nHost: other.example\r\n\r\n",
        "GET http://api.example@other.example/ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "GET https://api.example/ok HTTP/1.1\r\nHost: api.example\r\n\r\n",
        "CONNECT api.example:80 HTTP/1.1\r\nHost: api.example:80\r\n\r\n",
      })
  void requestForAnotherHostIsDenied(String request) throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    for (String allowed :
        List.of(
            "GET /ok HTTP/1.1\r\nHost: API.example:80\r\n\r\n",
            "GET http://api.example/ok HTTP/1.1\r\nHost: api.example\r\n\r\n")) {
      send(client, allowed);
      assertThat(response(client)).as("control").isEqualTo(OK);
      assertThat(server.request()).startsWith("GET /ok HTTP/1.1\r\n");
    }
    send(client, request);
    assertThat(response(client)).startsWith("HTTP/1.1 403 Forbidden");
    assertThat(server.hasRequests()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/../admin",
        "/v1/%2e%2e/admin",
        "/v1/.%2E/admin",
        "/v1/..;/admin",
        "/v1/..%3b/admin",
        "/v1//admin",
        "/v1/%2fadmin",
        "/v1/%5cadmin",
        "/v1\\admin",
        "/v1/%252e%252e/admin",
        "/v1/%zz",
        "/v1/%",
        "/v1/%00",
        "/v1/./a",
        "/v1/..",
        "/v1/;/a"
      })
  void pathThatServersUnderstandDifferentlyIsDenied(String path) throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(allow("GET", "/v1/*")));
    for (String allowed :
        List.of("/v1/%61dmin", "/%761/a", "/v1/a/", "/v1/...", "/v1/a;b=c?x=/../y%2f")) {
      send(client, get(allowed));
      assertThat(response(client)).as(allowed).isEqualTo(OK);
      assertThat(server.request()).startsWith("GET " + allowed + " ");
    }
    send(client, get(path));
    assertThat(response(client)).startsWith("HTTP/1.1 403").contains("ambiguous");
    assertThat(server.hasRequests()).isFalse();
  }

  @Test
  void ruleMatchesMethodAndHeadersAndSetsHeaders() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    HttpRule rule =
        new HttpRule(
            List.of("GET", "POST"),
            Optional.empty(),
            Map.of("X-Team", "blue-*"),
            Map.of("Authorization", "Bearer ${secret.key}"));
    Socket client = connect(server, List.of(rule), secret());
    String line = "GET /any//path HTTP/1.1\r\nHost: api.example\r\n";
    send(client, line + "x-team: blue-1\r\nauthorization: mine\r\nAuthorization: other\r\n\r\n");
    assertThat(response(client)).isEqualTo(OK);
    assertThat(server.request())
        .contains("Authorization: Bearer " + VALUE + "\r\n")
        .doesNotContain("mine")
        .doesNotContain("other");
    send(client, line + "x-team: red\r\n\r\n");
    assertThat(response(client)).startsWith("HTTP/1.1 403");
    send(client, line + "x-team: blue-1\r\nX-Team: red\r\n\r\n");
    assertThat(response(client)).as("every occurrence must match").startsWith("HTTP/1.1 403");
    send(client, "PUT / HTTP/1.1\r\nHost: api.example\r\nx-team: blue-1\r\n\r\n");
    assertThat(response(client)).startsWith("HTTP/1.1 403");
    Socket unbound = connect(server, List.of(rule));
    send(unbound, line + "x-team: blue-1\r\n\r\n");
    assertThat(response(unbound)).startsWith("HTTP/1.1 403").contains("not bound to this host");
    assertThat(server.hasRequests()).isFalse();
  }

  @Test
  void placeholderIsReplacedInHeadersAndQuery() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(), secret());
    String basic = Base64.getEncoder().encodeToString(("user:" + PLACEHOLDER).getBytes(ISO_8859_1));
    String request =
        "GET /a?key=%s HTTP/1.1\r\nHost: api.example\r\nX-Key: <%s,%s>\r\nAuthorization: Basic %s\r\nAccept-Encoding: gzip\r\n\r\n"
            .formatted(PLACEHOLDER, PLACEHOLDER, PLACEHOLDER, basic);
    send(client, request);
    response(client);
    String expected = Base64.getEncoder().encodeToString(("user:" + VALUE).getBytes(ISO_8859_1));
    assertThat(server.request())
        .contains("GET /a?key=sk-live-%2F%2B%3DABCDEFGHIJKL HTTP/1.1")
        .contains("X-Key: <" + VALUE + "," + VALUE + ">")
        .contains("Authorization: Basic " + expected + "\r\n")
        .contains("accept-encoding: identity")
        .doesNotContain("gzip");
    assertThat(relay.events()).containsExactly("allowed GET /a 200");
    Socket other = connect(server, List.of());
    send(other, request);
    response(other);
    assertThat(server.request()).as("a host without the secret").isEqualTo(request);
  }

  /** Every position at which a placeholder can be split, with a length and with chunks. */
  @Test
  void placeholderIsReplacedAcrossPiecesOfABody() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of(), secret());
    client.setTcpNoDelay(true);
    String body = "{\"a\":\"" + PLACEHOLDER + "\",\"b\":\"isola-secret-\"}";
    String expected = body.replace(PLACEHOLDER, VALUE);
    for (int at = 1; at < body.length(); at++) {
      String chunks =
          "%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n"
              .formatted(at, body.substring(0, at), body.length() - at, body.substring(at));
      send(
          client,
          "POST /c HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks);
      response(client);
      assertThat(unchunk(server.request())).as("chunks, " + at).isEqualTo(expected);
      send(
          client,
          "POST /l HTTP/1.1\r\nHost: api.example\r\nContent-Length: "
              + body.length()
              + "\r\n\r\n"
              + body.substring(0, at));
      send(client, body.substring(at));
      response(client);
      assertThat(server.request()).as("length, " + at).endsWith("\r\n\r\n" + expected);
    }
  }

  private static String unchunk(String message) {
    StringBuilder body = new StringBuilder();
    String rest = message.substring(message.indexOf("\r\n\r\n") + 4);
    while (true) {
      int end = rest.indexOf("\r\n");
      int size = Integer.parseInt(rest.substring(0, end), 16);
      if (size == 0) {
        return body.toString();
      }
      body.append(rest, end + 2, end + 2 + size);
      rest = rest.substring(end + 4 + size);
    }
  }

  @Test
  void compressedBodyAndSecretsNotForBodiesAreLeftAlone() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    String head = "POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 23\r\n";
    Socket client = connect(server, List.of(), secret());
    send(client, head + "Content-Encoding: gzip\r\n\r\n" + PLACEHOLDER);
    response(client);
    assertThat(server.request()).endsWith(PLACEHOLDER);
    client =
        connect(
            server,
            List.of(),
            new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(VALUE), false));
    send(client, head + "\r\n" + PLACEHOLDER);
    response(client);
    assertThat(server.request()).endsWith(PLACEHOLDER);
  }

  /** A dialogue must not wait for bytes that could be the beginning of a placeholder. */
  @Test
  void heldBytesAreReleasedIfNoMoreArrive() throws Exception {
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  InputStream in = socket.getInputStream();
                  StringBuilder all = new StringBuilder();
                  while (all.indexOf("\r\nisola\r\n") < 0) {
                    all.append((char) in.read());
                  }
                  socket
                      .getOutputStream()
                      .write(
                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\npong-sk-\r\n"
                              .getBytes(ISO_8859_1));
                  in.readAllBytes();
                }));
    Socket client = connect(server, List.of(), secret());
    send(
        client,
        "POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\na\r\nping-isola\r\n");
    StringBuilder all = new StringBuilder();
    while (all.indexOf("sk-") < 0) {
      all.append((char) client.getInputStream().read());
    }
    assertThat(all.toString()).startsWith("HTTP/1.1 200");
  }

  @Test
  void echoedSecretIsReplacedByItsPlaceholder() throws Exception {
    String body = "value=" + VALUE + "; encoded=sk-live-%2F%2B%3DABCDEFGHIJKL!";
    for (int at = 1; at < body.length(); at++) {
      String response =
          "HTTP/1.1 200 OK\r\nX-Echo: "
              + VALUE
              + "\r\nTransfer-Encoding: chunked\r\n\r\n"
              + "%x\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Trailer: %s\r\n\r\n"
                  .formatted(
                      at, body.substring(0, at), body.length() - at, body.substring(at), VALUE);
      try (RawServer server = RawServer.responding(response)) {
        Socket client = connect(server, List.of(), secret());
        send(client, "GET / HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n\r\n");
        String seen = chunkedResponse(client);
        assertThat(seen).contains("X-Echo: " + PLACEHOLDER).contains("X-Trailer: " + PLACEHOLDER);
        assertThat(unchunk(seen))
            .isEqualTo("value=" + PLACEHOLDER + "; encoded=" + PLACEHOLDER + "******!");
      }
    }
  }

  private static String chunkedResponse(Socket client) throws IOException {
    StringBuilder all = new StringBuilder();
    while (all.indexOf("\r\n0\r\n") < 0 || !all.substring(all.length() - 4).equals("\r\n\r\n")) {
      int next = client.getInputStream().read();
      if (next < 0) {
        break;
      }
      all.append((char) next);
    }
    return all.toString();
  }

  @Test
  void echoedBasicCredentialsAreReplaced() throws Exception {
    String sent = Base64.getEncoder().encodeToString(("u:" + VALUE).getBytes(ISO_8859_1));
    RawServer server =
        use(
            RawServer.responding(
                "HTTP/1.1 200 OK\r\nContent-Length: " + sent.length() + "\r\n\r\n" + sent));
    Socket client = connect(server, List.of(), secret());
    String mine = Base64.getEncoder().encodeToString(("u:" + PLACEHOLDER).getBytes(ISO_8859_1));
    send(
        client, "GET / HTTP/1.1\r\nHost: api.example\r\nAuthorization: basic " + mine + "\r\n\r\n");
    assertThat(response(client)).endsWith("\r\n\r\n" + mine);
  }

  @Test
  void compressedResponseIsNotPassedOnIfItCouldContainASecret() throws Exception {
    RawServer server =
        use(
            RawServer.responding(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nzz"));
    Socket client = connect(server, List.of());
    send(client, get("/"));
    assertThat(response(client)).as("control").contains("Content-Encoding: gzip").endsWith("zz");
    client = connect(server, List.of(), secret());
    send(client, get("/"));
    assertThat(response(client)).startsWith("HTTP/1.1 502").contains("compressed");
  }

  @Test
  void clientCannotChooseTheFormOfAResponseWithASecret() throws Exception {
    List<String> choices =
        List.of(
            "Range: bytes=0-9",
            "If-Range: \"a\"",
            "Request-Range: bytes=0-9",
            "x_ms_range: bytes=0-9",
            "Accept-Encoding: gzip",
            "accept_encoding: gzip",
            "Accept-Charset: utf-16",
            "grpc-accept-encoding: gzip",
            "A-IM: vcdiff",
            "X-Goog-Encode-Response-If-Executable: base64");
    List<String> others =
        List.of(
            "Accept: text/plain",
            "Accept-Language: de",
            "X-Api-Key: " + VALUE,
            "If-None-Match: \"a\"",
            "Content-Encoding: gzip",
            "Content-Range: bytes 0-9/10");
    String request =
        "GET / HTTP/1.1\r\nHost: api.example\r\n"
            + String.join("\r\n", choices)
            + "\r\n"
            + String.join("\r\n", others)
            + "\r\n\r\n";
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    send(client, request);
    assertThat(server.request()).as("a host without a secret").isEqualTo(request);
    client = connect(server, List.of(), secret());
    send(client, request);
    assertThat(server.request())
        .isEqualTo(
            "GET / HTTP/1.1\r\nHost: api.example\r\n"
                + String.join("\r\n", others)
                + "\r\naccept-encoding: identity\r\n\r\n");
    send(
        client,
        "POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nRange: bytes=0-9\r\nX-Sum: 10\r\n\r\n");
    assertThat(server.request()).as("after the body").endsWith("0\r\nX-Sum: 10\r\n\r\n");
  }

  @Test
  void webSocketOfAHostWithASecretHasNoExtensions() throws Exception {
    String accepted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n";
    RawServer server = use(RawServer.responding(accepted + "\r\n"));
    Socket client = connect(server, List.of(), secret());
    String request =
        "GET / HTTP/1.1\r\nHost: api.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    send(client, request);
    assertThat(response(client)).startsWith("HTTP/1.1 101");
    assertThat(server.request())
        .contains("Sec-WebSocket-Key: a", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol")
        .doesNotContain("Extensions", "deflate");
    RawServer other =
        use(
            RawServer.responding(
                accepted + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"));
    client = connect(other, List.of(), secret());
    send(client, request);
    assertThat(response(client)).startsWith("HTTP/1.1 502").contains("compressed");
  }

  @Test
  void secretIsMaskedWhereAResponseEndsInsideIt() throws Exception {
    for (int length = 1; length < VALUE.length(); length++) {
      String cut = "value=" + VALUE.substring(0, length);
      String masked =
          "value=" + (length <= 4 ? VALUE.substring(0, length) : PLACEHOLDER.substring(0, length));
      for (String head :
          List.of(
              "Connection: close\r\n\r\n" + cut,
              "Content-Length: " + cut.length() + "\r\n\r\n" + cut,
              "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nX-Cut: %s\r\n\r\n"
                  .formatted(cut.length(), cut, cut))) {
        String response = "HTTP/1.1 200 OK\r\nX-Cut: " + cut + "\r\n" + head;
        RawServer server =
            use(
                new RawServer(
                    socket -> {
                      RawServer.readRequest(socket.getInputStream());
                      socket.getOutputStream().write(response.getBytes(ISO_8859_1));
                    }));
        Socket client = connect(server, List.of(), secret());
        send(client, get("/"));
        String seen = rest(client);
        assertThat(seen).contains("X-Cut: " + masked + "\r\n");
        assertThat(head.startsWith("Transfer") ? unchunk(seen) : seen).endsWith(masked);
        assertThat(seen).doesNotContain(VALUE.substring(0, 5));
      }
    }
  }

  @Test
  void secretInTheNameOfAFieldIsLeftOut() throws Exception {
    String value = "sk-live-0123456789abcdef";
    RawServer server =
        use(
            RawServer.responding(
                "HTTP/1.1 200 OK\r\nX-%s: 1\r\nX-%s: 2\r\nX-Other: 3\r\nContent-Length: 2\r\n\r\nok"
                    .formatted(value, value.toUpperCase(Locale.ROOT))));
    Socket client =
        connect(
            server,
            List.of(),
            new BoundSecret("key", List.of(PLACEHOLDER), Secret.of(value), true));
    send(client, get("/"));
    assertThat(response(client))
        .isEqualTo("HTTP/1.1 200 OK\r\nX-Other: 3\r\nContent-Length: 2\r\n\r\nok");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "206 Partial Content\r\nContent-Range: bytes 0-1/23",
        "206 Partial Content",
        "200 OK\r\nContent-Range: bytes 0-1/23",
        "200 OK\r\nContent-Type: multipart/byteranges; boundary=x",
        "226 IM Used\r\nIM: vcdiff",
        "200 OK\r\nContent-Encoding: identity, br",
        "200 OK\r\ngrpc-encoding: gzip",
        "200 OK\r\nContent-Transfer-Encoding: base64",
        "200 OK\r\nContent-Type: text/plain; charset=utf-16",
        "200 OK\r\nContent-Type: text/plain; a=b; charset = \"UTF-16LE\"",
        "200 OK\r\nContent-Type: text/plain; charset=utf-7"
      })
  void responseThatCannotBeSearchedIsNotPassedOn(String head) throws Exception {
    RawServer server =
        use(RawServer.responding("HTTP/1.1 " + head + "\r\nContent-Length: 2\r\n\r\nzz"));
    Socket client = connect(server, List.of());
    send(client, get("/"));
    assertThat(response(client)).as("a host without a secret").endsWith("zz");
    client = connect(server, List.of(), secret());
    send(client, get("/"));
    assertThat(response(client))
        .startsWith("HTTP/1.1 502")
        .contains("cannot be searched for secrets")
        .doesNotContain("zz");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Encoding: identity",
        "200 OK\r\nContent-Type: text/html; charset=windows-1252",
        "200 OK\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary",
        "200 OK\r\ngrpc-accept-encoding: gzip\r\nAccept-Ranges: bytes",
        "416 Range Not Satisfiable\r\nContent-Range: bytes */23"
      })
  void responseThatCanBeSearchedIsPassedOn(String head) throws Exception {
    String response = "HTTP/1.1 " + head + "\r\nContent-Length: 2\r\n\r\nzz";
    RawServer server = use(RawServer.responding(response));
    Socket client = connect(server, List.of(), secret());
    send(client, get("/"));
    assertThat(response(client)).isEqualTo(response);
  }

  @Test
  void expectedContinueIsPassedOn() throws Exception {
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  StringBuilder head = new StringBuilder();
                  while (head.indexOf("\r\n\r\n") < 0) {
                    head.append((char) socket.getInputStream().read());
                  }
                  socket
                      .getOutputStream()
                      .write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
                  socket.getInputStream().readNBytes(5);
                  socket.getOutputStream().write(OK.getBytes(ISO_8859_1));
                  socket.getInputStream().readAllBytes();
                }));
    Socket client = connect(server, List.of(allow("POST", "/ok")));
    String head =
        " HTTP/1.1\r\nHost: api.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    send(client, "POST /ok" + head);
    assertThat(response(client)).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
    send(client, "hello");
    assertThat(response(client)).isEqualTo(OK);
    send(client, "POST /no" + head);
    assertThat(response(client)).startsWith("HTTP/1.1 403").contains("connection: close");
    assertThat(rest(client)).isEmpty();
  }

  @Test
  void responsesWithoutBodyKeepTheConnection() throws Exception {
    List<String> responses =
        List.of(
            "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK);
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  for (String response : responses) {
                    RawServer.readRequest(socket.getInputStream());
                    socket.getOutputStream().write(response.getBytes(ISO_8859_1));
                  }
                  socket.getInputStream().readAllBytes();
                }));
    Socket client = connect(server, List.of());
    for (String response : responses) {
      send(client, get("/").replace("GET", response.contains("500") ? "HEAD" : "GET"));
      byte[] seen = client.getInputStream().readNBytes(response.length());
      assertThat(new String(seen, ISO_8859_1)).isEqualTo(response);
    }
    assertThat(relay.events()).hasSize(4).allMatch(event -> event.startsWith("allowed"));
  }

  @Test
  void responseUntilTheEndOfTheConnectionIsCompleteAndShortOneIsReset() throws Exception {
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  String request = RawServer.readRequest(socket.getInputStream());
                  String length = request.contains("/short") ? "Content-Length: 100\r\n" : "";
                  socket
                      .getOutputStream()
                      .write(("HTTP/1.1 200 OK\r\n" + length + "\r\nabc").getBytes(ISO_8859_1));
                }));
    Socket client = connect(server, List.of());
    send(client, get("/"));
    assertThat(rest(client)).endsWith("\r\n\r\nabc");
    Socket other = connect(server, List.of());
    send(other, get("/short"));
    assertThatThrownBy(() -> rest(other)).isInstanceOf(SocketException.class);
  }

  @Test
  void clientLearnsThatTheServerClosedAnIdleConnection() throws Exception {
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  RawServer.readRequest(socket.getInputStream());
                  socket.getOutputStream().write(OK.getBytes(ISO_8859_1));
                }));
    Socket client = connect(server, List.of());
    send(client, get("/"));
    assertThat(rest(client)).isEqualTo(OK);
  }

  @Test
  void webSocketIsPassedOnAndOtherUpgradesAreNot() throws Exception {
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  String request = RawServer.readRequest(socket.getInputStream());
                  OutputStream out = socket.getOutputStream();
                  if (!request.contains("Upgrade: websocket")) {
                    out.write(OK.getBytes(ISO_8859_1));
                    socket.getInputStream().readAllBytes();
                    return;
                  }
                  out.write(
                      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
                          .getBytes(ISO_8859_1));
                  socket.getInputStream().transferTo(out);
                }));
    String head =
        " HTTP/1.1\r\nHost: api.example\r\nConnection: keep-alive, Upgrade, HTTP2-Settings\r\n";
    Socket client = connect(server, List.of(allow("GET", "/ws")));
    send(client, "GET /no" + head + "Upgrade: websocket\r\n\r\n");
    assertThat(response(client)).startsWith("HTTP/1.1 403");
    send(client, "GET /ws" + head + "Upgrade: websocket\r\n\r\n");
    assertThat(response(client)).startsWith("HTTP/1.1 101");
    send(client, get("/raw"));
    assertThat(response(client)).as("no HTTP any more").isEqualTo(get("/raw"));
    client.shutdownOutput();
    assertThat(rest(client)).isEmpty();
    client = connect(server, List.of(allow("GET", "/ws")));
    send(client, "GET /ws" + head + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n");
    assertThat(response(client)).isEqualTo(OK);
    send(client, get("/no"));
    assertThat(response(client)).as("still HTTP/1.1").startsWith("HTTP/1.1 403");
  }

  @Test
  void otherProtocolsAreResetAndReported() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    send(client, "\0\0\0\010binary");
    assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
    assertThat(relay.events())
        .containsExactly("denied   only HTTP can be sent to api.example by its rules");
  }

  @Test
  void clientThatWaitsForTheServerIsDenied() throws Exception {
    limits =
        new HttpGate.Limits(
            Duration.ofSeconds(5),
            Duration.ofMillis(300),
            Duration.ofSeconds(5),
            Duration.ofMillis(200));
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(relay.events())
                    .containsExactly("denied   only HTTP can be sent to api.example by its rules"));
  }

  @Test
  void slowHeadAndIdleConnectionAreClosed() throws Exception {
    limits =
        new HttpGate.Limits(
            Duration.ofSeconds(5),
            Duration.ofMillis(300),
            Duration.ofMillis(600),
            Duration.ofMillis(200));
    CountDownLatch closed = new CountDownLatch(1);
    RawServer server =
        use(
            new RawServer(
                socket -> {
                  RawServer.readRequest(socket.getInputStream());
                  socket.getOutputStream().write(OK.getBytes(ISO_8859_1));
                  socket.getInputStream().read();
                  closed.countDown();
                }));
    Socket slow = connect(server, List.of());
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> send(slow, "GET")) // a letter now and then is no progress
                    .isInstanceOf(SocketException.class));
    Socket idle = connect(server, List.of());
    send(idle, get("/"));
    assertThat(response(idle)).isEqualTo(OK);
    assertThatThrownBy(() -> idle.getInputStream().read()).isInstanceOf(SocketException.class);
    closed.await();
  }

  @Test
  void longHeadIsRefused() throws Exception {
    RawServer server = use(RawServer.responding(OK));
    Socket client = connect(server, List.of());
    send(client, "GET / HTTP/1.1\r\nHost: api.example\r\nA: " + "x".repeat(60_000) + "\r\n\r\n");
    assertThat(response(client)).isEqualTo(OK);
    send(client, "GET / HTTP/1.1\r\nHost: api.example\r\nA: " + "x".repeat(70_000) + "\r\n\r\n");
    assertThat(response(client)).startsWith("HTTP/1.1 400").contains("65536");
  }

  @Test
  void unreachableServerIsReportedAsBadGateway() throws Exception {
    RawServer server = RawServer.responding(OK);
    server.close();
    Socket client = connect(server, List.of());
    send(client, get("/"));
    assertThat(response(client)).startsWith("HTTP/1.1 502");
    RawServer silent = use(new RawServer(socket -> socket.getInputStream().read()));
    client = connect(silent, List.of());
    send(client, get("/"));
    assertThat(response(client)).startsWith("HTTP/1.1 502").contains("without a response");
  }
}
