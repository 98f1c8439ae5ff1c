package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1, A3: ports of sandboxes as web sites. The subprocess provider shares the host's loopback
 * interface, so the test can serve arbitrary responses behind a real agent.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PreviewTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final String HELLO =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html\r\n\r\nhello";

  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private TestClient anonymous;
  private TestSite site;
  private String id;

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
    client = testServer.client();
    anonymous = testServer.client("");
    id = client.post("/api/v1/sandboxes", "{}").field("id");
    site = new TestSite();
  }

  @AfterAll
  void close() throws IOException {
    site.close();
    client.delete("/api/v1/sandboxes/" + id + "?force=true");
    testServer.close();
  }

  @BeforeEach
  void reset() {
    site.respondWith(HELLO);
    testServer.warnings.clear();
  }

  private static String head(String status, String... headers) {
    return "HTTP/1.1 " + status + "\r\n" + String.join("\r\n", headers) + "\r\n\r\n";
  }

  private String ports() {
    return "/api/v1/sandboxes/" + id + "/ports";
  }

  private String prefix() {
    return ports() + "/" + site.port();
  }

  private String host() {
    return site.port() + "-" + id + ".localhost:" + client.port();
  }

  private TestClient.Response byHost(TestClient who, String path, Map<String, String> more)
      throws IOException {
    Map<String, String> headers = new HashMap<>(Map.of("Host", host()));
    headers.putAll(more);
    return who.send("GET", path, headers, new byte[0]);
  }

  @Test
  void previewIsAccessibleByHostAndByPathWithAKey() throws IOException {
    TestClient.Response host = byHost(client, "/a/b%20c?d=e&f", Map.of());
    assertThat(host.status()).as(host.text()).isEqualTo(200);
    assertThat(host.text()).isEqualTo("hello");
    assertThat(host.headers())
        .containsEntry("content-type", "text/html")
        .doesNotContainKeys("content-security-policy", "cache-control");
    assertThat(site.lastHead())
        .startsWith("GET /a/b%20c?d=e&f HTTP/1.1\r\n")
        .contains("Host: " + host() + "\r\n", "X-Forwarded-Host: " + host())
        .contains("X-Forwarded-Proto: http\r\n", "X-Forwarded-For: 127.0.0.1\r\n")
        .doesNotContain("X-Forwarded-Prefix");

    TestClient.Response path = client.get(prefix() + "/a?b=c");
    assertThat(path.text()).isEqualTo("hello");
    assertThat(path.headers())
        .containsEntry("content-security-policy", "sandbox allow-scripts allow-forms allow-popups");
    assertThat(site.lastHead())
        .startsWith("GET /a?b=c HTTP/1.1\r\n")
        .contains("X-Forwarded-Prefix: " + prefix() + "\r\n");
    assertThat(client.get(prefix() + "/").status()).isEqualTo(200);
    assertThat(site.lastHead()).startsWith("GET / HTTP/1.1\r\n");
  }

  /** Regression: a byte of the next request was lost, so that its method was unknown. */
  @Test
  void nextRequestMayArriveWhileThePreviousOneIsProcessed() throws Exception {
    for (boolean begun : new boolean[] {false, true}) {
      String part = begun ? HELLO.substring(0, HELLO.length() - 2) : "";
      CountDownLatch sent = new CountDownLatch(1);
      site.handleWith(
          (head, in, out) -> {
            out.write(part.getBytes(UTF_8));
            out.flush();
            if (sent.await(30, TimeUnit.SECONDS)) {
              out.write(HELLO.substring(part.length()).getBytes(UTF_8));
            }
          });
      String request = "GET " + prefix() + "/ HTTP/1.1\r\nHost: localhost\r\n";
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), client.port())) {
        socket.setSoTimeout(30_000);
        String credential = "Authorization: Bearer " + client.key() + "\r\n\r\n";
        socket.getOutputStream().write((request + credential).getBytes(UTF_8));
        await().atMost(SOON).until(() -> !site.heads().isEmpty());
        String status = "HTTP/1.1 200";
        if (begun) {
          assertThat(socket.getInputStream().readNBytes(status.length()))
              .asString(UTF_8)
              .isEqualTo(status);
        }
        socket.getOutputStream().write((request + "Connection: close\r\n\r\n").getBytes(UTF_8));
        sent.countDown();
        assertThat(
                (begun ? status : "") + new String(socket.getInputStream().readAllBytes(), UTF_8))
            .as("the response had begun: " + begun)
            .startsWith(status)
            .containsSubsequence("hello", "HTTP/1.1 401");
      }
    }
  }

  @Test
  void portIsDescribedWithItsUrlAndWhetherAProcessListens() throws IOException {
    assertThat(client.get(prefix()).json())
        .containsEntry("port", site.port())
        .containsEntry("public", false)
        .containsEntry("url", "http://" + host() + "/")
        .containsEntry("listening", true);
    assertThat(client.get(ports() + "/1").json()).containsEntry("listening", false);
    assertThat(site.heads()).as("no request is sent").isEmpty();
    assertThat(client.get(ports() + "/0").status()).isEqualTo(400);
    assertThat(client.get(ports() + "/http").status()).isEqualTo(400);
    assertThat(testServer.client(testServer.read).get(prefix()).status()).isEqualTo(403);
    assertThat(anonymous.get(prefix()).status()).isEqualTo(401);
  }

  @Test
  void portIsPrivateUntilItIsPublished() throws IOException {
    assertThat(byHost(anonymous, "/", Map.of()).status()).isEqualTo(401);
    assertThat(anonymous.get(prefix() + "/").status()).isEqualTo(401);
    assertThat(byHost(testServer.client(testServer.read), "/", Map.of()).status()).isEqualTo(403);
    assertThat(site.heads()).isEmpty();

    TestClient.Response opened =
        client.send("PUT", prefix(), Map.of(), "{\"public\":true}".getBytes(UTF_8));
    assertThat(opened.json()).containsEntry("public", true).containsEntry("port", site.port());
    assertThat(client.get(ports()).list("ports")).hasSize(1);
    assertThat(byHost(anonymous, "/", Map.of()).text()).isEqualTo("hello");
    assertThat(anonymous.get(prefix() + "/").text()).isEqualTo("hello");
    assertThat(byHost(anonymous, "/", Map.of("Origin", "http://elsewhere.example")).status())
        .isEqualTo(200);
    assertThat(anonymous.send("GET", ports() + "/1/", Map.of(), new byte[0]).status())
        .as("another port")
        .isEqualTo(401);

    client.send("PUT", prefix(), Map.of(), "{\"public\":false}".getBytes(UTF_8));
    assertThat(byHost(anonymous, "/", Map.of()).status()).isEqualTo(401);
    assertThat(client.get(ports()).list("ports")).isEmpty();
  }

  @Test
  void previewHostNeverServesTheApi() throws IOException {
    assertThat(byHost(client, "/api/v1/sandboxes", Map.of()).text()).isEqualTo("hello");
    assertThat(site.lastHead()).startsWith("GET /api/v1/sandboxes HTTP/1.1\r\n");
    TestClient.Response link =
        client.send("POST", "/link", Map.of("Host", host()), "{\"ttlSeconds\":5}".getBytes(UTF_8));
    assertThat(link.text()).isEqualTo("hello");
    String page = "http://" + host();
    assertThat(
            client.send("GET", "/api/v1/sandboxes", Map.of("Origin", page), new byte[0]).status())
        .isEqualTo(403);
    for (String odd :
        List.of(
            site.port() + "-" + id + ".evil.example",
            site.port() + "-" + id + ".x.localhost",
            "x." + host(),
            site.port() + "-BOX_.localhost",
            "123456-" + id + ".localhost",
            "-" + id + ".localhost")) {
      assertThat(client.send("GET", "/", Map.of("Host", odd), new byte[0]).status())
          .as(odd)
          .isEqualTo(403);
    }
    assertThat(
            client
                .send(
                    "GET",
                    "/",
                    Map.of("Host", site.port() + "-" + id + ".isola.example"),
                    new byte[0])
                .text())
        .as("a domain of the server")
        .isEqualTo("hello");
    assertThat(byHost(client, "/", Map.of("Origin", page)).status()).isEqualTo(200);
    assertThat(byHost(client, "/", Map.of("Origin", "http://1-other.localhost")).status())
        .isEqualTo(403);
  }

  @Test
  void serverCredentialsAreNotForwardedToASandbox() throws IOException {
    String token = token("preview");
    byHost(anonymous, "/", Map.of("Authorization", "Bearer " + client.key()));
    assertThat(site.lastHead()).doesNotContainIgnoringCase("authorization");
    String e2bForm = client.key().replaceFirst("^isk_", "e2b_");
    assertThat(byHost(anonymous, "/", Map.of("Authorization", "Bearer " + e2bForm)).text())
        .isEqualTo("hello");
    assertThat(site.lastHead()).doesNotContainIgnoringCase("authorization");
    byHost(anonymous, "/", Map.of("X-Isola-Token", token));
    assertThat(site.lastHead()).doesNotContainIgnoringCase("isola-token");
    byHost(
        anonymous,
        "/",
        Map.of(
            "Cookie",
            "a=1; isola_preview=" + token + "; b=2",
            "Authorization",
            "Bearer " + testServer.read,
            "Sec-WebSocket-Protocol",
            "chat, isola.bearer." + testServer.use));
    assertThat(site.lastHead())
        .contains("Cookie: a=1; b=2\r\n", "Sec-WebSocket-Protocol: chat\r\n")
        .doesNotContainIgnoringCase("authorization");
    for (String head : site.heads()) {
      assertThat(head).doesNotContain(client.key(), testServer.use, testServer.read, token);
    }
    // Credentials of the site itself are forwarded.
    byHost(anonymous, "/", Map.of("X-Isola-Token", token, "Authorization", "Bearer theirs"));
    assertThat(site.lastHead()).contains("Authorization: Bearer theirs\r\n");
    byHost(anonymous, "/?isola_token=" + token, Map.of());
    assertThat(site.lastHead()).doesNotContain("isola_token");
  }

  private String token(String scope) throws IOException {
    return client
        .post(
            "/api/v1/sandboxes/" + id + "/tokens",
            "{\"scope\":\"" + scope + "\",\"ttlSeconds\":60}")
        .field("token");
  }

  @Test
  void previewLinkIsExchangedForACookie() throws IOException {
    TestClient.Response made = client.post(prefix() + "/link", "{\"ttlSeconds\":60}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    String url = made.field("url");
    assertThat(url)
        .startsWith(
            "http://" + site.port() + "-" + id + ".localhost:" + client.port() + "/?isola_token=");
    String query = url.substring(url.indexOf('?'));
    TestClient.Response first = byHost(anonymous, "/page" + query + "&x=1", Map.of());
    assertThat(first.status()).isEqualTo(303);
    assertThat(first.headers())
        .containsEntry("location", "/page?x=1")
        .containsEntry("referrer-policy", "no-referrer");
    String cookie = first.headers().getOrDefault("set-cookie", "");
    assertThat(cookie).contains("HttpOnly", "SameSite=Lax", "Path=/;", "Max-Age=");
    Map<String, String> framed = Map.of("Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site");
    assertThat(byHost(anonymous, "/page" + query, framed).headers().get("set-cookie"))
        .endsWith("; HttpOnly; SameSite=None; Secure; Partitioned");
    assertThat(site.heads()).isEmpty();
    String shown = cookie.substring(0, cookie.indexOf(';'));
    assertThat(byHost(anonymous, "/page?x=1", Map.of("Cookie", shown)).text()).isEqualTo("hello");
    assertThat(byHost(anonymous, "/", Map.of("Cookie", "isola_preview=planted; " + shown)).text())
        .isEqualTo("hello");
    assertThat(byHost(anonymous, "//evil.example/" + query, Map.of()).headers().get("location"))
        .isNotEqualTo("//evil.example/");

    // The cookie is limited to this port.
    String other = "1-" + id + ".localhost";
    assertThat(byHost(anonymous, "/", Map.of("Host", other, "Cookie", shown)).status())
        .isEqualTo(401);
    assertThat(byHost(anonymous, "/" + query, Map.of("Host", other)).status()).isEqualTo(401);
    assertThat(
            anonymous
                .send("GET", "/api/v1/sandboxes", Map.of("Cookie", shown), new byte[0])
                .status())
        .isEqualTo(401);
    assertThat(byHost(anonymous, "/" + query + "x", Map.of()).status()).isEqualTo(401);

    String path =
        client.post(prefix() + "/link", "{\"ttlSeconds\":60,\"form\":\"path\"}").field("url");
    TestClient.Response byPath = anonymous.get(path.substring(path.indexOf("/api/")));
    assertThat(byPath.status()).isEqualTo(303);
    assertThat(byPath.headers()).containsEntry("location", prefix() + "/");
    assertThat(byPath.headers().get("set-cookie")).contains("Path=" + prefix() + "/;");
  }

  @Test
  void tokenIsLimitedToItsSandboxAndScope() throws IOException {
    String use = token("use");
    String preview = token("preview");
    TestClient user = testServer.client(use);
    String other = client.post("/api/v1/sandboxes", "{}").field("id");
    try {
      String own = "/api/v1/sandboxes/" + id;
      assertThat(user.get(own).status()).isEqualTo(200);
      assertThat(user.post(own + "/exec", "{\"command\":\"echo hi\"}").text()).contains("hi\\n");
      assertThat(byHost(user, "/", Map.of()).status()).isEqualTo(200);
      assertThat(anonymous.send("GET", own, Map.of("X-Isola-Token", use), new byte[0]).status())
          .isEqualTo(200);
      for (String path :
          List.of(
              "/api/v1/sandboxes/" + other,
              "/api/v1/sandboxes",
              "/api/v1/keys",
              "/api/v1/events")) {
        assertThat(user.get(path).status()).as(path).isEqualTo(403);
      }
      assertThat(user.get("/api/v1/sandboxes/" + other + "/ports/" + site.port() + "/").status())
          .isEqualTo(401);
      // Operations that outlive the token require a key.
      assertThat(user.post(own + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":9}").status())
          .isEqualTo(403);
      assertThat(user.post(prefix() + "/link", "{\"ttlSeconds\":9}").status()).isEqualTo(403);
      assertThat(user.send("PUT", prefix(), Map.of(), "{\"public\":true}".getBytes(UTF_8)).status())
          .isEqualTo(403);

      assertThat(testServer.client(preview).get(own).status()).isEqualTo(403);
      assertThat(byHost(testServer.client(preview), "/", Map.of()).status()).isEqualTo(200);
      for (int i = 0; i < preview.length(); i++) {
        char wrong = preview.charAt(i) == 'A' ? 'B' : 'A';
        String bad = preview.substring(0, i) + wrong + preview.substring(i + 1);
        assertThat(byHost(anonymous, "/", Map.of("X-Isola-Token", bad)).status())
            .as(i + " of " + preview)
            .isEqualTo(401);
      }
    } finally {
      client.delete("/api/v1/sandboxes/" + other + "?force=true");
    }
    String expired =
        testServer
            .keys
            .tokens()
            .sign(
                new dev.isola.server.auth.SandboxToken(
                    dev.isola.server.auth.SandboxToken.Kind.USE,
                    new dev.isola.spi.SandboxId(id),
                    0,
                    testServer.keys.tokens().expiryAfter(-1)))
            .reveal();
    assertThat(testServer.client(expired).get("/api/v1/sandboxes/" + id).status()).isEqualTo(401);
  }

  @Test
  void bodiesAreStreamedInBothDirectionsConcurrently() throws Exception {
    AtomicLong came = new AtomicLong();
    site.handleWith(
        (head, in, out) -> {
          out.write("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n".getBytes(UTF_8));
          byte[] buffer = new byte[8192];
          for (long left = 5_000_000; left > 0; ) {
            int read = in.read(buffer);
            if (read < 0) {
              return;
            }
            came.addAndGet(read);
            out.write(buffer, 0, read);
            left -= read;
          }
        });
    byte[] body = new byte[5_000_000];
    new Random(1).nextBytes(body);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), client.port())) {
      socket
          .getOutputStream()
          .write(
              ("PUT "
                      + prefix()
                      + "/up HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                      + client.key()
                      + "\r\nContent-Length: 5000000\r\n\r\n")
                  .getBytes(UTF_8));
      // On a separate thread, because the echo begins before the request is complete.
      Thread sender =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      socket.getOutputStream().write(body);
                    } catch (IOException e) {
                      // The response is checked below.
                    }
                  });
      TestClient.OpenResponse open = TestClient.read(socket);
      assertThat(open.status()).isEqualTo(200);
      assertThat(open.body().readAllBytes()).isEqualTo(body);
      sender.join();
    }
    assertThat(came.get()).isEqualTo(5_000_000);
    assertThat(site.lastHead()).startsWith("PUT /up HTTP/1.1").contains("Content-Length: 5000000");

    site.handleWith(
        (head, in, out) -> {
          StringBuilder all = new StringBuilder();
          while (all.indexOf("0\r\n\r\n") < 0) {
            all.append((char) in.read());
          }
          String text = all.toString().replace("\r\n", "|");
          out.write(
              ("HTTP/1.1 200 OK\r\nContent-Length: " + text.length() + "\r\n\r\n" + text)
                  .getBytes(UTF_8));
        });
    TestClient.Response chunked =
        client.send(
            "POST",
            prefix() + "/",
            Map.of("Transfer-Encoding", "chunked", "Content-Length", ""),
            new byte[0]);
    assertThat(chunked.status()).isEqualTo(400); // contradictory framing
    try (TestClient.OpenResponse open =
        client.raw(
            ("POST "
                    + prefix()
                    + "/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    + client.key()
                    + "\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                .getBytes(UTF_8))) {
      assertThat(new String(open.body().readAllBytes(), UTF_8))
          .endsWith("0||")
          .contains("abc", "de");
    }
    assertThat(site.lastHead()).contains("Transfer-Encoding: chunked");
  }

  @Test
  void streamedResponseArrivesIncrementallyAndEndsWithTheClient() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    CountDownLatch next = new CountDownLatch(1);
    AtomicBoolean noticed = new AtomicBoolean();
    site.handleWith(
        (head, in, out) -> {
          out.write(
              head("200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
                  .getBytes(UTF_8));
          first.await(30, TimeUnit.SECONDS);
          out.write("5\r\none\n\n\r\n".getBytes(UTF_8));
          next.await(30, TimeUnit.SECONDS);
          out.write("5\r\ntwo\n\n\r\n".getBytes(UTF_8));
          noticed.set(in.read() < 0); // sends nothing further
        });
    try (TestClient.OpenResponse open = client.open("GET", prefix() + "/", Map.of(), new byte[0])) {
      assertThat(open.headers()).containsEntry("content-type", "text/event-stream");
      first.countDown();
      InputStream body = open.body();
      // The last byte of an event arrives with the end of its chunk.
      assertThat(new String(body.readNBytes(4), UTF_8)).isEqualTo("one\n");
      next.countDown();
      assertThat(new String(body.readNBytes(5), UTF_8)).isEqualTo("\ntwo\n");
    }
    await().atMost(SOON).untilTrue(noticed);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void upgradedConnectionIsTunnelled() throws Exception {
    site.handleWith(
        (head, in, out) -> {
          out.write(
              ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: shout\r\nConnection: Upgrade\r\n"
                      + "X-Own: yes\r\n\r\nfirst ")
                  .getBytes(UTF_8));
          for (int c = in.read(); c >= 0; c = in.read()) {
            out.write(Character.toUpperCase(c));
          }
          out.write(" last".getBytes(UTF_8));
        });
    Map<String, String> upgrade =
        Map.of("Connection", "keep-alive, Upgrade", "Upgrade", "shout", "Host", host());
    try (TestClient.OpenResponse open = client.open("GET", "/chat", upgrade, new byte[0])) {
      assertThat(open.status()).isEqualTo(101);
      assertThat(open.headers()).containsEntry("upgrade", "shout").containsEntry("x-own", "yes");
      assertThat(site.lastHead())
          .contains("Connection: Upgrade\r\n", "Upgrade: shout\r\n")
          .doesNotContain("keep-alive");
      assertThat(new String(open.body().readNBytes(6), UTF_8)).isEqualTo("first ");
      open.socket().getOutputStream().write("hello".getBytes(UTF_8));
      assertThat(new String(open.body().readNBytes(5), UTF_8)).isEqualTo("HELLO");
      open.socket().shutdownOutput();
      assertThat(new String(open.body().readAllBytes(), UTF_8)).isEqualTo(" last");
    }
    // A refused upgrade is an ordinary response.
    site.respondWith("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
    try (TestClient.OpenResponse open = client.open("GET", "/chat", upgrade, new byte[0])) {
      assertThat(open.status()).isEqualTo(403);
    }
    // h2c is a hop-by-hop upgrade.
    site.respondWith(HELLO);
    client
        .open(
            "GET",
            "/",
            Map.of("Connection", "Upgrade", "Upgrade", "h2c", "Host", host()),
            new byte[0])
        .close();
    await().atMost(SOON).until(() -> !site.heads().isEmpty());
    assertThat(site.lastHead()).doesNotContain("h2c");
  }

  @Test
  void malformedResponsesAreReportedAsAProblem() throws IOException {
    for (String odd :
        List.of(
            "",
            "\r\n",
            "nonsense\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 999 OK\r\n\r\n",
            "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nhi",
            "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nname : x\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
            "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n".repeat(20),
            "HTTP/1.1 200 OK\r\nX: " + "y".repeat(70_000) + "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(300) + "\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")) {
      site.respondWith(odd);
      TestClient.Response answer = client.get(prefix() + "/");
      assertThat(answer.status()).as(odd.substring(0, Math.min(80, odd.length()))).isEqualTo(502);
      assertThat(answer.field("code")).isEqualTo("OUTCOME_UNKNOWN");
      assertThat(answer.field("detail")).contains("port " + site.port());
    }
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void truncatedBodiesAreDetectable() {
    for (String cut :
        List.of(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalfmore\r\n0\r\n\r\n")) {
      site.respondWith(cut);
      assertThatThrownBy(
              () -> {
                TestClient.Response answer = client.get(prefix() + "/");
                throw new AssertionError(cut + ": " + answer.status() + " " + answer.text());
              })
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void responsesOfEveryFramingAreForwarded() throws IOException {
    Map<String, String> good =
        Map.of(
            "HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end",
            "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: r\r\n\r\n",
                "abc",
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                "ok",
            "HTTP/1.1 404 Not here\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\ngone", "gone");
    for (Map.Entry<String, String> each : good.entrySet()) {
      site.respondWith(each.getKey());
      assertThat(client.get(prefix() + "/").text()).as(each.getKey()).isEqualTo(each.getValue());
    }
    site.respondWith("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 9\r\n\r\n");
    try (TestClient.OpenResponse open = client.open("GET", prefix() + "/", Map.of(), new byte[0])) {
      assertThat(open.status()).isEqualTo(304);
      assertThat(open.headers()).containsEntry("etag", "\"x\"");
    }
    site.respondWith("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
    try (TestClient.OpenResponse open =
        client.open("HEAD", prefix() + "/", Map.of(), new byte[0])) {
      assertThat(open.headers()).containsEntry("content-length", "1234");
    }
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void pathFormStripsHeadersThatAffectTheServerOrigin() throws IOException {
    site.respondWith(
        head(
            "302 Found",
            "Location: /next",
            "Set-Cookie: a=b",
            "Clear-Site-Data: \"*\"",
            "Alt-Svc: h2=\":1\"",
            "Service-Worker-Allowed: /",
            "X-Request-Id: theirs",
            "Content-Security-Policy: sandbox allow-same-origin",
            "Content-Length: 0"));
    TestClient.Response path = client.get(prefix() + "/");
    assertThat(path.headers())
        .containsEntry("location", prefix() + "/next")
        // Both policies hold: the page has only what each of them allows.
        .containsEntry(
            "content-security-policy",
            "sandbox allow-same-origin\nsandbox allow-scripts allow-forms allow-popups")
        .doesNotContainKeys("set-cookie", "clear-site-data", "alt-svc", "service-worker-allowed");
    assertThat(path.headers().get("x-request-id")).isNotEqualTo("theirs");

    site.respondWith(
        head(
            "302 Found",
            "Location: /next",
            "Set-Cookie: a=b; Domain=localhost; Path=/",
            "Content-Length: 0"));
    TestClient.Response host = byHost(client, "/", Map.of());
    assertThat(host.headers())
        .containsEntry("location", "/next")
        .containsEntry("set-cookie", "a=b; Path=/");
    site.respondWith("HTTP/1.1 200 OK\r\nSet-Cookie: isola_preview=x\r\nContent-Length: 0\r\n\r\n");
    assertThat(byHost(client, "/", Map.of()).headers()).doesNotContainKey("set-cookie");
  }

  @Test
  void closedPortAndMissingSandboxAreReported() throws IOException {
    TestClient.Response closed = client.get(ports() + "/1/");
    assertThat(closed.status()).isEqualTo(404);
    assertThat(closed.field("code")).isEqualTo("PORT_NOT_OPEN");
    assertThat(client.get("/api/v1/sandboxes/nosuch/ports/80/").field("code"))
        .isEqualTo("SANDBOX_NOT_FOUND");
    assertThat(client.get(ports() + "/0/").status()).isEqualTo(400);
    assertThat(client.get(ports() + "/65536/").status()).isEqualTo(400);
    assertThat(client.get(ports() + "/x/").status()).isEqualTo(400);
    assertThat(client.send("PROPFIND", "/", Map.of("Host", host()), new byte[0]).status())
        .isEqualTo(404);
  }

  @Test
  void accessLogContainsOnlyTheRoute() throws IOException {
    testServer.requests.clear();
    String requestId = byHost(client, "/hunter2?hunter3", Map.of()).headers().get("x-request-id");
    // Lines are written after the response is sent, so that of an earlier request may come first.
    AccessLog.Line logged =
        await()
            .atMost(SOON)
            .until(
                () ->
                    testServer.requests.stream()
                        .filter(line -> line.requestId().equals(requestId))
                        .findFirst(),
                Optional::isPresent)
            .orElseThrow();
    assertThat(logged.route()).isEqualTo("/api/v1/sandboxes/{id}/ports/{port}/{rest}");
    assertThat(testServer.requests.toString()).doesNotContain("hunter", id);
  }
}
