package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.api.Api;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.context.ServerContext;
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
class ServerStartTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // each test opens its own
  private TestServer house;

  @AfterEach
  void close() {
    house.close();
  }

  /** Opens a second port of the house, whose engine comes when the test says so. */
  private IsolaServer starting(ServerContext serving) {
    return IsolaServer.open(
        IsolaServer.Address.of("127.0.0.1", 0),
        Api.routes(serving, house.keys, "test", "test"),
        new HostOriginFilter(List.of()),
        house.keys,
        line -> {},
        house.log);
  }

  @Test
  void aRequestWaitsForAServerThatStarts() throws Exception {
    house = new TestServer(folder);
    ServerContext serving = new ServerContext();
    try (IsolaServer server = starting(serving)) {
      TestClient client = new TestClient(server.port(), house.admin);
      CompletableFuture<TestClient.Response> made =
          CompletableFuture.supplyAsync(() -> created(client), Thread::startVirtualThread);
      TestClient.Response early = client.get("/readyz");
      assertThat(early.status()).as("a probe does not wait").isEqualTo(503);
      assertThat(early.headers()).containsKey("retry-after");
      await().atMost(SOON).until(() -> server.activeRequests() == 1);
      assertThat(made).isNotDone();

      serving.start(new ServerContext.Components(house.engine, house.registry, house.health));
      assertThat(made.get(SOON.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(201);
    }
  }

  private static TestClient.Response created(TestClient client) {
    try {
      return client.post("/api/v1/sandboxes", "{}");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRequestIsToldToComeBackWhenTheStartTakesTooLong() throws IOException {
    house = new TestServer(folder);
    try (IsolaServer server = starting(new ServerContext(Duration.ofMillis(50)))) {
      TestClient.Response refused =
          new TestClient(server.port(), house.admin).post("/api/v1/sandboxes", "{}");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(Long.parseLong(refused.headers().get("retry-after"))).isPositive();
    }
  }

  @Test
  void isNotReadyWhileNoAllowedProviderIsHealthy() throws IOException {
    house =
        new TestServer(
            folder,
            SOON,
            new TestProviderFactory(),
            serving -> HttpServerOptions.NONE,
            Map.of("floor", "vm"));
    TestClient.Response ready = house.client("").get("/readyz");
    assertThat(ready.status()).as(ready.text()).isEqualTo(503);
    assertThat(ready.headers()).containsKey("retry-after");
    assertThat(house.client("").get("/healthz").status()).isEqualTo(200);
    assertThat(house.client().post("/api/v1/sandboxes", "{}").status()).isGreaterThan(400);
  }

  @Test
  void aSandboxWhoseClientNamesNoTimeEndsAndTheAnswerSaysWhen() throws IOException {
    house = new TestServer(folder);
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
    house =
        new TestServer(
            folder, SOON, serving -> HttpServerOptions.NONE, Map.of("sandbox.ttl", "0s"));
    assertThat(house.client().post("/api/v1/sandboxes", "{}").json())
        .doesNotContainKey("expiresAt");
    house.close();
    house =
        new TestServer(
            folder, SOON, serving -> HttpServerOptions.NONE, Map.of("sandbox.ttl", "90m"));
    assertThat(lifetime(house.client().post("/api/v1/sandboxes", "{}").json()))
        .isEqualTo(Duration.ofMinutes(90));
  }

  private static Duration lifetime(Map<String, Object> sandbox) {
    return Duration.between(
        Instant.parse((String) sandbox.get("createdAt")),
        Instant.parse((String) sandbox.get("expiresAt")));
  }
}
