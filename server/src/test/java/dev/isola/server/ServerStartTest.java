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

/** O12: the port is open before the engine has started. */
class ServerStartTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  @TempDir Path folder;

  @SuppressWarnings("NullAway.Init") // each test opens its own
  private TestServer testServer;

  @AfterEach
  void close() {
    testServer.close();
  }

  /** Opens a second port whose engine is started by the test. */
  private IsolaServer serverStartingWith(ServerContext context) {
    return IsolaServer.open(
        IsolaServer.Address.of("127.0.0.1", 0),
        Api.routes(context, testServer.keys, "test", "test"),
        new HostOriginFilter(List.of()),
        testServer.keys,
        line -> {},
        testServer.log);
  }

  @Test
  void requestWaitsForTheEngineToStart() throws Exception {
    testServer = new TestServer(folder);
    ServerContext context = new ServerContext();
    try (IsolaServer server = serverStartingWith(context)) {
      TestClient client = new TestClient(server.port(), testServer.admin);
      CompletableFuture<TestClient.Response> response =
          CompletableFuture.supplyAsync(() -> created(client), Thread::startVirtualThread);
      TestClient.Response early = client.get("/readyz");
      assertThat(early.status()).as("readiness does not wait").isEqualTo(503);
      assertThat(early.headers()).containsKey("retry-after");
      await().atMost(SOON).until(() -> server.activeRequests() == 1);
      assertThat(response).isNotDone();

      context.start(
          new ServerContext.Components(testServer.engine, testServer.registry, testServer.health));
      assertThat(response.get(SOON.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(201);
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
  void requestFailsWithRetryAfterIfTheStartTakesTooLong() throws IOException {
    testServer = new TestServer(folder);
    try (IsolaServer server = serverStartingWith(new ServerContext(Duration.ofMillis(50)))) {
      TestClient.Response refused =
          new TestClient(server.port(), testServer.admin).post("/api/v1/sandboxes", "{}");
      assertThat(refused.status()).isEqualTo(503);
      assertThat(Long.parseLong(refused.headers().get("retry-after"))).isPositive();
    }
  }

  @Test
  void isNotReadyWhileNoAllowedProviderIsHealthy() throws IOException {
    testServer =
        new TestServer(
            folder,
            SOON,
            new TestProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of("floor", "vm"));
    TestClient.Response ready = testServer.client("").get("/readyz");
    assertThat(ready.status()).as(ready.text()).isEqualTo(503);
    assertThat(ready.headers()).containsKey("retry-after");
    assertThat(testServer.client("").get("/healthz").status()).isEqualTo(200);
    assertThat(testServer.client().post("/api/v1/sandboxes", "{}").status()).isGreaterThan(400);
  }

  @Test
  void sandboxWithoutTtlGetsTheDefaultTtl() throws IOException {
    testServer = new TestServer(folder);
    Map<String, Object> response = testServer.client().post("/api/v1/sandboxes", "{}").json();
    assertThat(lifetime(response)).isEqualTo(Duration.ofHours(24));
    Map<String, Object> own =
        testServer.client().post("/api/v1/sandboxes", "{\"ttlSeconds\":60}").json();
    assertThat(lifetime(own)).isEqualTo(Duration.ofSeconds(60));
    Map<String, Object> same =
        testServer.client().get("/api/v1/sandboxes/" + response.get("id")).json();
    assertThat(same).containsEntry("expiresAt", response.get("expiresAt"));
  }

  @Test
  void defaultTtlIsConfigurable() throws IOException {
    testServer =
        new TestServer(
            folder, SOON, context -> HttpServerOptions.NONE, Map.of("sandbox.ttl", "0s"));
    assertThat(testServer.client().post("/api/v1/sandboxes", "{}").json())
        .doesNotContainKey("expiresAt");
    testServer.close();
    testServer =
        new TestServer(
            folder, SOON, context -> HttpServerOptions.NONE, Map.of("sandbox.ttl", "90m"));
    assertThat(lifetime(testServer.client().post("/api/v1/sandboxes", "{}").json()))
        .isEqualTo(Duration.ofMinutes(90));
  }

  private static Duration lifetime(Map<String, Object> sandbox) {
    return Duration.between(
        Instant.parse((String) sandbox.get("createdAt")),
        Instant.parse((String) sandbox.get("expiresAt")));
  }
}
