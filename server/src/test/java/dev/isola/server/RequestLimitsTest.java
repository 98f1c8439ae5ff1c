package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one caller may have of a server, and that others still get theirs. */
class RequestLimitsTest {
  private static final String FREE = "/api/v1/sandboxes";

  @TempDir Path folder;

  private TestServer house(RequestLimits limits) {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        serving -> new HttpServerOptions(Optional.empty(), limits, List.of(), Optional::empty),
        Map.of());
  }

  private static void isRefused(TestClient.Response answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(429);
    assertThat(answer.json()).containsEntry("code", "RATE_LIMITED");
    assertThat(Long.parseLong(answer.headers().get("retry-after"))).isPositive();
  }

  @Test
  void aKeyThatAsksTooOftenIsToldWhenToComeBack() throws IOException {
    // So slow that no second token can come while the test runs.
    try (TestServer house = house(new RequestLimits(1, 5, 0, 0, 0))) {
      TestClient eager = house.client(house.read);
      List<Integer> answers = new ArrayList<>();
      for (int i = 0; i < 50 && !answers.contains(429); i++) {
        answers.add(eager.get(FREE).status());
      }
      assertThat(answers.subList(0, 5)).containsOnly(200);
      assertThat(answers).contains(429);
      assertThat(house.client(house.use).get(FREE).status()).as("another key").isEqualTo(200);
      assertThat(house.client("").get("/healthz").status()).as("no key needed").isEqualTo(200);
    }
  }

  @Test
  void wrongKeysFromOneAddressAreNoLongerHeard() throws IOException {
    try (TestServer house = house(new RequestLimits(0, 1, 3, 0, 0))) {
      TestClient guesser = house.client("isk_" + "0".repeat(64));
      for (int i = 0; i < 3; i++) {
        assertThat(guesser.get(FREE).status()).isEqualTo(401);
      }
      isRefused(guesser.get(FREE));
      // Or else the right key among many would still be told from the wrong ones.
      isRefused(house.client().get(FREE));
      assertThat(house.client("").get(FREE).status()).as("without a key").isEqualTo(401);
    }
  }

  @Test
  void noKeyAtAllIsNoWrongKey() throws IOException {
    try (TestServer house = house(new RequestLimits(0, 1, 3, 0, 0))) {
      for (int i = 0; i < 10; i++) {
        assertThat(house.client("").get(FREE).status()).isEqualTo(401);
      }
      assertThat(house.client().get(FREE).status()).isEqualTo(200);
    }
  }

  @Test
  void streamsOfAKeyAreLimitedAndAnEndedOneMakesRoom() throws IOException {
    try (TestServer house = house(new RequestLimits(0, 1, 0, 0, 2))) {
      TestClient client = house.client();
      try (TestClient.OpenResponse first =
              client.open("GET", "/api/v1/events", Map.of(), new byte[0]);
          TestClient.OpenResponse second =
              client.open("GET", "/api/v1/events", Map.of(), new byte[0])) {
        assertThat(List.of(first.status(), second.status())).containsOnly(200);
        isRefused(client.get("/api/v1/events"));
        assertThat(client.get(FREE).status()).as("no stream").isEqualTo(200);
      }
      // Something has to happen before the server notices that nobody reads.
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
  void requestsAtOnceAreLimitedForAllTogether() throws IOException {
    try (TestServer house = house(new RequestLimits(0, 1, 0, 1, 0))) {
      TestClient client = house.client();
      await().until(() -> house.engine.readiness().isReady());
      try (TestClient.OpenResponse stream =
          client.open("GET", "/api/v1/events", Map.of(), new byte[0])) {
        assertThat(stream.status()).isEqualTo(200);
        isRefused(house.client(house.read).get(FREE));
        assertThat(client.get("/readyz").status()).as("a probe").isEqualTo(200);
      }
    }
  }
}
