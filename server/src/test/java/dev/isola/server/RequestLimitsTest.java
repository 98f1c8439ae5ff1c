package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.RequestLimits;
import dev.isola.spi.spec.AddressBlock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits per key and address do not affect other clients. */
class RequestLimitsTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir Path folder;

  private TestServer startServer(RequestLimits limits) {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        context -> new HttpServerOptions(Optional.empty(), limits, List.of(), Optional::empty),
        Map.of());
  }

  private static void assertRateLimited(TestClient.Response answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(429);
    assertThat(answer.json()).containsEntry("code", "RATE_LIMITED");
    assertThat(Long.parseLong(answer.headers().get("retry-after"))).isPositive();
  }

  @Test
  void keyOverItsRateGetsRetryAfter() throws IOException {
    // The rate is too low for a second token during the test.
    try (TestServer testServer = startServer(new RequestLimits(1, 5, 0, 0, 0))) {
      TestClient client = testServer.client(testServer.read);
      List<Integer> answers = new ArrayList<>();
      for (int i = 0; i < 50 && !answers.contains(429); i++) {
        answers.add(client.get(SANDBOXES).status());
      }
      assertThat(answers.subList(0, 5)).containsOnly(200);
      assertThat(answers).contains(429);
      assertThat(testServer.client(testServer.use).get(SANDBOXES).status())
          .as("another key")
          .isEqualTo(200);
      assertThat(testServer.client("").get("/healthz").status()).as("no key needed").isEqualTo(200);
    }
  }

  @Test
  void failedKeysAreLimitedAndNeverLockOutAValidKey() throws IOException {
    try (TestServer testServer = startServer(new RequestLimits(0, 1, 3, 0, 0))) {
      TestClient invalidClient = testServer.client("isk_" + "0".repeat(64));
      for (int i = 0; i < 3; i++) {
        assertThat(invalidClient.get(SANDBOXES).status()).isEqualTo(401);
      }
      assertRateLimited(invalidClient.get(SANDBOXES));
      assertThat(testServer.client().get(SANDBOXES).status()).as("a valid key").isEqualTo(200);
      assertThat(session(testServer, testServer.use).status()).as("in a body").isEqualTo(200);
      assertRateLimited(session(testServer, "isk_" + "1".repeat(64)));
      assertThat(testServer.client("").get(SANDBOXES).status()).as("without a key").isEqualTo(401);
    }
  }

  private static TestClient.Response session(TestServer testServer, String key) throws IOException {
    return testServer.client("").post("/api/v1/session", "{\"key\":\"" + key + "\"}");
  }

  /** All clients of a proxy have its address; only the operator's proxies can say more. */
  @Test
  void clientsBehindATrustedProxyHaveLimitsOfTheirOwn() throws IOException {
    for (boolean trusted : List.of(true, false)) {
      ClientAddresses clients =
          trusted
              ? new ClientAddresses(AddressBlock.parse("127.0.0.0/8").stream().toList())
              : ClientAddresses.DIRECT;
      try (TestServer testServer =
          new TestServer(
              folder.resolve("server" + trusted),
              Duration.ofSeconds(30),
              context ->
                  new HttpServerOptions(
                          Optional.empty(),
                          new RequestLimits(0, 1, 3, 0, 0),
                          List.of(),
                          Optional::empty)
                      .withConnections(ConnectionLimits.DEFAULT, clients),
              Map.of())) {
        TestClient invalid = testServer.client("isk_" + "0".repeat(64));
        Map<String, String> attacker = Map.of("Forwarded", "for=192.0.2.1");
        for (int i = 0; i < 4; i++) {
          invalid.send("GET", SANDBOXES, attacker, new byte[0]);
        }
        assertThat(invalid.send("GET", SANDBOXES, attacker, new byte[0]).status()).isEqualTo(429);
        Map<String, String> other = Map.of("Forwarded", "for=192.0.2.1, for=192.0.2.2");
        assertThat(invalid.send("GET", SANDBOXES, other, new byte[0]).status())
            .isEqualTo(trusted ? 401 : 429);
      }
    }
  }

  @Test
  void requestWithoutKeyIsNotCountedAsFailure() throws IOException {
    try (TestServer testServer = startServer(new RequestLimits(0, 1, 3, 0, 0))) {
      for (int i = 0; i < 10; i++) {
        assertThat(testServer.client("").get(SANDBOXES).status()).isEqualTo(401);
      }
      assertThat(testServer.client().get(SANDBOXES).status()).isEqualTo(200);
    }
  }

  @Test
  void streamsPerKeyAreLimitedUntilOneEnds() throws IOException {
    try (TestServer testServer = startServer(new RequestLimits(0, 1, 0, 0, 2))) {
      TestClient client = testServer.client();
      try (TestClient.OpenResponse first =
              client.open("GET", "/api/v1/events", Map.of(), new byte[0]);
          TestClient.OpenResponse second =
              client.open("GET", "/api/v1/events", Map.of(), new byte[0])) {
        assertThat(List.of(first.status(), second.status())).containsOnly(200);
        assertRateLimited(client.get("/api/v1/events"));
        assertThat(client.get(SANDBOXES).status()).as("no stream").isEqualTo(200);
      }
      // The server detects the disconnect only when it sends an event.
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                client.post("/api/v1/sandboxes", "{}");
                try (TestClient.OpenResponse again =
                    client.open("GET", "/api/v1/events", Map.of(), new byte[0])) {
                  return again.status() == 200;
                }
              });
    }
  }

  @Test
  void concurrentRequestsAreLimited() throws IOException {
    try (TestServer testServer = startServer(new RequestLimits(0, 1, 0, 1, 0))) {
      TestClient client = testServer.client();
      await().until(() -> testServer.engine.readiness().isReady());
      try (TestClient.OpenResponse stream =
          client.open("GET", "/api/v1/events", Map.of(), new byte[0])) {
        assertThat(stream.status()).isEqualTo(200);
        assertRateLimited(testServer.client(testServer.read).get(SANDBOXES));
        assertThat(client.get("/readyz").status()).as("a probe").isEqualTo(200);
      }
    }
  }
}
