package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.limit.RequestLimits;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1, A3: anonymous requests to public ports do not affect authenticated ones, and failed keys are
 * counted.
 */
class PreviewLimitsTest {
  private static final String HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir Path folder;
  private final CountDownLatch release = new CountDownLatch(1);
  private final List<TestClient.OpenResponse> slowRequests = new ArrayList<>();
  private TestSite site;

  @SuppressWarnings("NullAway.Init") // each test opens its own
  private TestServer testServer;

  @SuppressWarnings("NullAway.Init")
  private String id;

  @BeforeEach
  void open() throws IOException {
    site = new TestSite();
    site.respondWith(HELLO);
  }

  @AfterEach
  void close() throws IOException {
    release.countDown();
    for (TestClient.OpenResponse one : slowRequests) {
      one.close();
    }
    testServer.engine.sandboxes().destroy(new SandboxId(id), DestroyOptions.FORCE);
    testServer.close();
    site.close();
  }

  private void startServer(RequestLimits limits) throws IOException {
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context -> new HttpServerOptions(Optional.empty(), limits, List.of(), Optional::empty),
            Map.of());
    id = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
  }

  private String ports() {
    return "/api/v1/sandboxes/" + id + "/ports/" + site.port();
  }

  private void publishPort() throws IOException {
    assertThat(
            testServer
                .client()
                .send("PUT", ports(), Map.of(), "{\"public\":true}".getBytes(UTF_8))
                .status())
        .isEqualTo(200);
  }

  private TestClient.Response preview(TestClient client, Map<String, String> more)
      throws IOException {
    Map<String, String> headers = new HashMap<>();
    headers.put("Host", site.port() + "-" + id + ".localhost:" + testServer.server.port());
    headers.putAll(more);
    return client.send("GET", "/", headers, new byte[0]);
  }

  private TestClient.OpenResponse openSlowRequest(TestClient client) throws IOException {
    int before = site.heads().size();
    TestClient.OpenResponse open = client.open("GET", ports() + "/slow", Map.of(), new byte[0]);
    slowRequests.add(open);
    await().atMost(SOON).until(() -> site.heads().size() > before);
    return open;
  }

  /** Sends the response head at once and the body only when released. */
  private void serveSlowly() {
    site.handleWith(
        (head, in, out) -> {
          if (head.startsWith("GET /slow")) {
            out.write("HTTP/1.1 200 OK\r\n\r\nfirst".getBytes(ISO_8859_1));
            out.flush();
            release.await();
          } else {
            out.write(HELLO.getBytes(ISO_8859_1));
          }
        });
  }

  @Test
  void anonymousPreviewRequestsDoNotBlockTheApiOrAuthenticatedRequests() throws IOException {
    startServer(new RequestLimits(0, 1, 0, 2, 0, 4, 0));
    publishPort();
    serveSlowly();
    TestClient anonymous = testServer.client("");
    for (int i = 0; i < 3; i++) {
      assertThat(openSlowRequest(anonymous).status()).isEqualTo(200);
    }
    TestClient.Response refused = preview(anonymous, Map.of());
    assertThat(refused.status()).as(refused.text()).isEqualTo(429);
    assertThat(refused.headers()).containsKey("retry-after");
    assertThat(testServer.client().get("/api/v1/sandboxes").status()).as("the API").isEqualTo(200);
    assertThat(preview(testServer.client(), Map.of()).status()).as("a key").isEqualTo(200);

    release.countDown();
    await().atMost(SOON).until(() -> preview(anonymous, Map.of()).status() == 200);
  }

  @Test
  void previewRequestsPerSandboxAreLimited() throws IOException {
    startServer(new RequestLimits(0, 1, 0, 0, 0, 100, 2));
    publishPort();
    serveSlowly();
    TestClient anonymous = testServer.client("");
    assertThat(openSlowRequest(anonymous).status()).isEqualTo(200);
    assertThat(openSlowRequest(anonymous).status()).isEqualTo(200);
    assertThat(preview(anonymous, Map.of()).status()).isEqualTo(429);
    String other = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
    String path = "/api/v1/sandboxes/" + other + "/ports/" + site.port();
    assertThat(testServer.client().get(path + "/").status()).as("another sandbox").isEqualTo(200);
    testServer.client().delete("/api/v1/sandboxes/" + other + "?force=true");
  }

  @Test
  void tunnelHoldsItsPermitUntilItEnds() throws IOException {
    startServer(new RequestLimits(0, 1, 0, 0, 0, 100, 1));
    publishPort();
    site.handleWith(
        (head, in, out) -> {
          if (head.contains("Upgrade: shout")) {
            out.write(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: shout\r\nConnection: Upgrade\r\n\r\n"
                    .getBytes(ISO_8859_1));
            out.flush();
            in.read();
          } else {
            out.write(HELLO.getBytes(ISO_8859_1));
          }
        });
    TestClient anonymous = testServer.client("");
    Map<String, String> upgrade = Map.of("Connection", "Upgrade", "Upgrade", "shout");
    try (TestClient.OpenResponse tunnel =
        anonymous.open("GET", ports() + "/", upgrade, new byte[0])) {
      assertThat(tunnel.status()).isEqualTo(101);
      assertThat(preview(anonymous, Map.of()).status()).isEqualTo(429);
    }
    await().atMost(SOON).until(() -> preview(anonymous, Map.of()).status() == 200);
  }

  @Test
  void failedKeysAtAPrivatePortAreLimitedAndLockOutNoOther() throws IOException {
    startServer(new RequestLimits(0, 1, 3, 0, 0));
    String path = ports() + "/";
    TestClient invalidClient = testServer.client("isk_" + "0".repeat(64));
    for (int i = 0; i < 3; i++) {
      assertThat(invalidClient.get(path).status()).isEqualTo(401);
    }
    assertThat(invalidClient.get(path).status()).isEqualTo(429);
    assertThat(testServer.client().get(path).status()).as("a valid key").isEqualTo(200);
    assertThat(testServer.client("").get(path).status()).as("no key").isEqualTo(401);
  }

  @Test
  void failedTokensOfEveryKindAreCounted() throws IOException {
    startServer(new RequestLimits(0, 1, 2, 0, 0));
    TestClient anonymous = testServer.client("");
    String path = ports() + "/";
    Map<String, String> wrong = Map.of("X-Isola-Token", "wrong");
    assertThat(anonymous.send("GET", path, wrong, new byte[0]).status()).isEqualTo(401);
    assertThat(anonymous.get(path + "?isola_token=ist_wrong.wrong").status()).isEqualTo(401);
    assertThat(anonymous.get(path + "?isola_token=ist_wrong.wrong").status()).isEqualTo(429);
    assertThat(testServer.client().get(path).status()).as("a valid key").isEqualTo(200);
  }

  @Test
  void publicPortDoesNotDiscloseWhichKeysAreValid() throws IOException {
    startServer(new RequestLimits(0, 1, 3, 0, 0));
    publishPort();
    String good = testServer.admin;
    for (String key : List.of(good, "isk_" + "0".repeat(64))) {
      assertThat(preview(testServer.client(key), Map.of()).status()).isEqualTo(200);
      assertThat(site.lastHead()).doesNotContain("Authorization", key);
    }
    // A token of the site is not a server key and is always forwarded.
    for (int i = 0; i < 10; i++) {
      assertThat(preview(testServer.client("the-site's-own-" + i), Map.of()).status())
          .isEqualTo(200);
      assertThat(site.lastHead()).contains("Authorization: Bearer the-site's-own-" + i);
    }
    for (int i = 0; i < 5; i++) {
      assertThat(preview(testServer.client("isk_" + i), Map.of()).status()).isEqualTo(200);
    }
    assertThat(testServer.client("isk_" + "0".repeat(64)).get("/api/v1/sandboxes/x").status())
        .as("failures were counted")
        .isEqualTo(429);
  }

  @Test
  void reverseProxyHeadersOfASandboxAreDropped() throws IOException {
    startServer(RequestLimits.NONE);
    site.respondWith(
        String.join(
            "\r\n",
            "HTTP/1.1 200 OK",
            "X-Accel-Redirect: /internal/secret",
            "x-accel-buffering: no",
            "X-Sendfile: /etc/passwd",
            "X-Sendfile-Type: X",
            "X-LIGHTTPD-send-file: /etc/passwd",
            "X-Lighttpd-Send-Tempfile: /x",
            "X-LiteSpeed-Location: /x",
            "X-Reproxy-URL: http://x/",
            "X_Accel_Redirect: /x",
            "Surrogate-Control: content=\"ESI/1.0\"",
            "X-Own: yes",
            "Content-Length: 5",
            "",
            "hello"));
    for (TestClient.Response answer :
        List.of(preview(testServer.client(), Map.of()), testServer.client().get(ports() + "/"))) {
      assertThat(answer.text()).isEqualTo("hello");
      assertThat(answer.headers()).containsEntry("x-own", "yes");
      assertThat(answer.headers().keySet())
          .noneMatch(name -> name.matches("(?i)x[-_](accel|send|lighttpd|litespeed|reproxy).*"))
          .doesNotContain("surrogate-control");
    }
  }
}
