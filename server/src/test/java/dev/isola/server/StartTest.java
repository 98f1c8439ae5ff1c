package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.api.Api;
import dev.isola.server.auth.Gate;
import dev.isola.server.context.Serving;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** O12: the port is open before the engine is. */
class StartTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // each test opens its own
  private ServerHouse house;

  @AfterEach
  void close() {
    house.close();
  }

  /** Opens a second port of the house, whose engine comes when the test says so. */
  private IsolaServer starting(Serving serving) {
    return IsolaServer.open(
        IsolaServer.Address.of("127.0.0.1", 0),
        Api.routes(serving, house.keys, "test", "test"),
        new Gate(List.of()),
        house.keys,
        line -> {},
        house.log);
  }

  @Test
  void aRequestWaitsForAServerThatStarts() throws Exception {
    house = new ServerHouse(folder);
    Serving serving = new Serving();
    try (IsolaServer server = starting(serving)) {
      Client client = new Client(server.port(), house.admin);
      CompletableFuture<Client.Answer> made =
          CompletableFuture.supplyAsync(() -> created(client), Thread::startVirtualThread);
      Client.Answer early = client.get("/readyz");
      assertThat(early.status()).as("a probe does not wait").isEqualTo(503);
      assertThat(early.headers()).containsKey("retry-after");
      await().atMost(SOON).until(() -> server.busy() == 1);
      assertThat(made).isNotDone();

      serving.ready(new Serving.Parts(house.engine, house.registry, house.health));
      assertThat(made.get(SOON.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(201);
    }
  }

  private static Client.Answer created(Client client) {
    try {
      return client.post("/api/v1/sandboxes", "{}");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRequestIsToldToComeBackWhenTheStartTakesTooLong() throws IOException {
    house = new ServerHouse(folder);
    try (IsolaServer server = starting(new Serving(Duration.ofMillis(50)))) {
      Client.Answer refused =
          new Client(server.port(), house.admin).post("/api/v1/sandboxes", "{}");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(Long.parseLong(refused.headers().get("retry-after"))).isPositive();
    }
  }

  @Test
  void isNotReadyWhileNoAllowedProviderIsHealthy() throws IOException {
    house =
        new ServerHouse(
            folder,
            SOON,
            new TestProviderFactory(),
            serving -> Options.NONE,
            Map.of("floor", "vm"));
    Client.Answer ready = house.client("").get("/readyz");
    assertThat(ready.status()).as(ready.text()).isEqualTo(503);
    assertThat(ready.headers()).containsKey("retry-after");
    assertThat(house.client("").get("/healthz").status()).isEqualTo(200);
    assertThat(house.client().post("/api/v1/sandboxes", "{}").status()).isGreaterThan(400);
  }

  @Test
  void aSandboxWhoseClientNamesNoTimeEndsAndTheAnswerSaysWhen() throws IOException {
    house = new ServerHouse(folder);
    Map<String, Object> made = house.client().post("/api/v1/sandboxes", "{}").json();
    assertThat(lifetime(made)).isEqualTo(Duration.ofHours(24));
    Map<String, Object> own =
        house.client().post("/api/v1/sandboxes", "{\"ttlSeconds\":60}").json();
    assertThat(lifetime(own)).isEqualTo(Duration.ofSeconds(60));
    Map<String, Object> same = house.client().get("/api/v1/sandboxes/" + made.get("id")).json();
    assertThat(same).containsEntry("expiresAt", made.get("expiresAt"));
  }

  @Test
  void theConfigurationSaysHowLongOrForEver() throws IOException {
    house = new ServerHouse(folder, SOON, serving -> Options.NONE, Map.of("sandbox.ttl", "0s"));
    assertThat(house.client().post("/api/v1/sandboxes", "{}").json())
        .doesNotContainKey("expiresAt");
    house.close();
    house = new ServerHouse(folder, SOON, serving -> Options.NONE, Map.of("sandbox.ttl", "90m"));
    assertThat(lifetime(house.client().post("/api/v1/sandboxes", "{}").json()))
        .isEqualTo(Duration.ofMinutes(90));
  }

  private static Duration lifetime(Map<String, Object> sandbox) {
    return Duration.between(
        Instant.parse((String) sandbox.get("createdAt")),
        Instant.parse((String) sandbox.get("expiresAt")));
  }
}
