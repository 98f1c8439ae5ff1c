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

/** A1, A3: strangers at public ports take nothing from keys, and wrong keys are counted there. */
class PreviewLimitsTest {
  private static final String HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir Path folder;
  private final CountDownLatch letGo = new CountDownLatch(1);
  private final List<TestClient.OpenResponse> hanging = new ArrayList<>();
  private TestSite site;

  @SuppressWarnings("NullAway.Init") // each test opens its own
  private TestServer house;

  @SuppressWarnings("NullAway.Init")
  private String id;

  @BeforeEach
  void open() throws IOException {
    site = new TestSite();
    site.respondWith(HELLO);
  }

  @AfterEach
  void close() throws IOException {
    letGo.countDown();
    for (TestClient.OpenResponse one : hanging) {
      one.close();
    }
    house.engine.destroy(new SandboxId(id), DestroyOptions.FORCE);
    house.close();
    site.close();
  }

  private void house(RequestLimits limits) throws IOException {
    house =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            serving -> new HttpServerOptions(Optional.empty(), limits, List.of(), Optional::empty),
            Map.of());
    id = house.client().post("/api/v1/sandboxes", "{}").field("id");
  }

  private String ports() {
    return "/api/v1/sandboxes/" + id + "/ports/" + site.port();
  }

  private void publish() throws IOException {
    assertThat(
            house
                .client()
                .send("PUT", ports(), Map.of(), "{\"public\":true}".getBytes(UTF_8))
                .status())
        .isEqualTo(200);
  }

  private TestClient.Response preview(TestClient client, Map<String, String> more)
      throws IOException {
    Map<String, String> headers = new HashMap<>();
    headers.put("Host", site.port() + "-" + id + ".localhost:" + house.server.port());
    headers.putAll(more);
    return client.send("GET", "/", headers, new byte[0]);
  }

  private TestClient.OpenResponse hang(TestClient client) throws IOException {
    int before = site.heads().size();
    TestClient.OpenResponse open = client.open("GET", ports() + "/slow", Map.of(), new byte[0]);
    hanging.add(open);
    await().atMost(SOON).until(() -> site.heads().size() > before);
    return open;
  }

  /** Answers the head at once, so that the client has it, and the body when it is let go. */
  private void siteHangs() {
    site.handleWith(
        (head, in, out) -> {
          if (head.startsWith("GET /slow")) {
            out.write("HTTP/1.1 200 OK\r\n\r\nfirst".getBytes(ISO_8859_1));
            out.flush();
            letGo.await();
          } else {
            out.write(HELLO.getBytes(ISO_8859_1));
          }
        });
  }

  @Test
  void strangersAtPublicPortsTakeNoPlaceFromTheApiNorFromKeys() throws IOException {
    house(new RequestLimits(0, 1, 0, 2, 0, 4, 0));
    publish();
    siteHangs();
    TestClient stranger = house.client("");
    for (int i = 0; i < 3; i++) {
      assertThat(hang(stranger).status()).isEqualTo(200);
    }
    TestClient.Response refused = preview(stranger, Map.of());
    assertThat(refused.status()).as(refused.text()).isEqualTo(429);
    assertThat(refused.headers()).containsKey("retry-after");
    assertThat(house.client().get("/api/v1/sandboxes").status()).as("the API").isEqualTo(200);
    assertThat(preview(house.client(), Map.of()).status()).as("a key").isEqualTo(200);

    letGo.countDown();
    await().atMost(SOON).until(() -> preview(stranger, Map.of()).status() == 200);
  }

  @Test
  void oneSandboxHasAPartOfThePreviews() throws IOException {
    house(new RequestLimits(0, 1, 0, 0, 0, 100, 2));
    publish();
    siteHangs();
    TestClient stranger = house.client("");
    assertThat(hang(stranger).status()).isEqualTo(200);
    assertThat(hang(stranger).status()).isEqualTo(200);
    assertThat(preview(stranger, Map.of()).status()).isEqualTo(429);
    String other = house.client().post("/api/v1/sandboxes", "{}").field("id");
    String path = "/api/v1/sandboxes/" + other + "/ports/" + site.port();
    assertThat(house.client().get(path + "/").status()).as("another sandbox").isEqualTo(200);
    house.client().delete("/api/v1/sandboxes/" + other + "?force=true");
  }

  @Test
  void aTunnelHoldsItsPlaceUntilItEnds() throws IOException {
    house(new RequestLimits(0, 1, 0, 0, 0, 100, 1));
    publish();
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
    TestClient stranger = house.client("");
    Map<String, String> upgrade = Map.of("Connection", "Upgrade", "Upgrade", "shout");
    try (TestClient.OpenResponse tunnel =
        stranger.open("GET", ports() + "/", upgrade, new byte[0])) {
      assertThat(tunnel.status()).isEqualTo(101);
      assertThat(preview(stranger, Map.of()).status()).isEqualTo(429);
    }
    await().atMost(SOON).until(() -> preview(stranger, Map.of()).status() == 200);
  }

  @Test
  void wrongKeysAtAPrivatePortAreCountedAndThenARightOneIsNotLookedAt() throws IOException {
    house(new RequestLimits(0, 1, 3, 0, 0));
    String path = ports() + "/";
    TestClient guesser = house.client("isk_" + "0".repeat(64));
    for (int i = 0; i < 3; i++) {
      assertThat(guesser.get(path).status()).isEqualTo(401);
    }
    assertThat(guesser.get(path).status()).isEqualTo(429);
    assertThat(house.client().get(path).status()).as("a right key").isEqualTo(429);
    assertThat(house.client("").get(path).status()).as("no key").isEqualTo(401);
  }

  @Test
  void wrongTokensOfEveryKindAreCounted() throws IOException {
    house(new RequestLimits(0, 1, 2, 0, 0));
    TestClient stranger = house.client("");
    String path = ports() + "/";
    Map<String, String> wrong = Map.of("X-Isola-Token", "wrong");
    assertThat(stranger.send("GET", path, wrong, new byte[0]).status()).isEqualTo(401);
    assertThat(stranger.get(path + "?isola_token=ist_wrong.wrong").status()).isEqualTo(401);
    assertThat(stranger.get(path + "?isola_token=ist_wrong.wrong").status()).isEqualTo(429);
    assertThat(house.client().get(path).status()).isEqualTo(429);
  }

  @Test
  void aPublicPortDoesNotTellWhichKeysAreGood() throws IOException {
    house(new RequestLimits(0, 1, 3, 0, 0));
    publish();
    String good = house.admin;
    for (String key : List.of(good, "isk_" + "0".repeat(64))) {
      assertThat(preview(house.client(key), Map.of()).status()).isEqualTo(200);
      assertThat(site.lastHead()).doesNotContain("Authorization", key);
    }
    // A token of the site's own is no key of ours and reaches it, however often.
    for (int i = 0; i < 10; i++) {
      assertThat(preview(house.client("the-site's-own-" + i), Map.of()).status()).isEqualTo(200);
      assertThat(site.lastHead()).contains("Authorization: Bearer the-site's-own-" + i);
    }
    for (int i = 0; i < 5; i++) {
      assertThat(preview(house.client("isk_" + i), Map.of()).status()).isEqualTo(200);
    }
    assertThat(house.client().get("/api/v1/sandboxes/x").status())
        .as("guesses were counted")
        .isEqualTo(429);
  }

  @Test
  void whatCommandsAReverseProxyDoesNotLeaveASandbox() throws IOException {
    house(RequestLimits.NONE);
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
        List.of(preview(house.client(), Map.of()), house.client().get(ports() + "/"))) {
      assertThat(answer.text()).isEqualTo("hello");
      assertThat(answer.headers()).containsEntry("x-own", "yes");
      assertThat(answer.headers().keySet())
          .noneMatch(name -> name.matches("(?i)x[-_](accel|send|lighttpd|litespeed|reproxy).*"))
          .doesNotContain("surrogate-control");
    }
  }
}
