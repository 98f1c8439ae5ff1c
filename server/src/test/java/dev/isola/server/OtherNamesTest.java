package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.Hosting;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code runtime}, {@code runtimeId} and {@code containerId}: accepted, answered or explained. */
class OtherNamesTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir Path folder;
  private final AtomicInteger listings = new AtomicInteger();
  private volatile String container = "4f1c0ffee";
  private TestServer testServer;
  private TestClient client;

  /** The subprocess provider, whose inventory has containers like that of a container engine. */
  private final class EngineFactory implements ProviderFactory {
    @Override
    public String name() {
      return "engine";
    }

    @Override
    public ProviderProfile profile() {
      return new ProviderProfile(Isolation.PROCESS, Hosting.DAEMON, Duration.ofMillis(10));
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      Provider provider = new SubprocessProviderFactory().create(config, context);
      return (Provider)
          Proxy.newProxyInstance(
              Provider.class.getClassLoader(),
              new Class<?>[] {Provider.class},
              (_, method, arguments) -> {
                if (method.getName().equals("inventory")) {
                  listings.incrementAndGet();
                  return provider.inventory().stream().map(this::inContainer).toList();
                }
                try {
                  return method.invoke(provider, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }

    private InventoryItem inContainer(InventoryItem item) {
      return new InventoryItem(
          item.id(), item.state(), item.createdAt(), Map.of("container", container));
    }
  }

  @BeforeEach
  void open() {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new EngineFactory());
    client = testServer.client();
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void runtimeIdIsAcceptedAndAnswered() throws IOException {
    TestClient.Response made = client.post(SANDBOXES, "{\"runtimeId\":\"chosen1\"}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(made.json())
        .containsEntry("id", "chosen1")
        .containsEntry("runtimeId", "chosen1")
        .containsEntry("runtime", "engine");
    Map<String, Object> later = new HashMap<>(made.json());
    assertThat(later.remove("unenforcedRequestedLimits")).isEqualTo(List.of());
    assertThat(client.get(SANDBOXES + "/chosen1").json()).isEqualTo(later);
  }

  @Test
  void containerIdIsAnsweredAndLookedUpOnce() throws IOException {
    String sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
    // A listing of the reconciler may be in progress.
    await()
        .until(() -> "4f1c0ffee".equals(client.get(sandbox + "/status").json().get("containerId")));
    int before = listings.get();
    for (int i = 0; i < 5; i++) {
      assertThat(client.get(sandbox + "/status").field("containerId")).isEqualTo("4f1c0ffee");
    }
    assertThat(listings.get()).isEqualTo(before);
  }

  @Test
  void invalidContainerIdOfABackendIsNotPassedOn() throws IOException {
    container = "\u001b[2J\r\nSet-Cookie: x";
    String sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
    TestClient.Response status = client.get(sandbox + "/status");
    assertThat(status.json()).doesNotContainKey("containerId").containsEntry("health", "healthy");
  }

  @Test
  void nameOfAnotherApiIsExplained() throws IOException {
    for (String body :
        List.of("{\"runtime\":\"docker\"}", "{\"runtime\":7,\"env\":{\"A\":\"b\"}}")) {
      TestClient.Response refused = client.post(SANDBOXES, body);
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.field("detail")).contains("runtime is unknown; use provider");
    }
    assertThat(client.post(SANDBOXES, "{\"containerId\":\"x\"}").field("detail"))
        .contains("containerId is unknown; use id");
    assertThat(client.get(SANDBOXES + "?runtime=docker").field("detail"))
        .contains("runtime is unknown; use provider");
    assertThat(client.get(SANDBOXES + "?runtimeId=x").field("detail"))
        .contains("runtimeId is unknown; use ref");
    assertThat(client.get("/api/v1/events?containerId=x").field("detail"))
        .contains("containerId is unknown; use sandbox");
    String sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
    assertThat(
            client
                .post(sandbox + "/exec", "{\"command\":\"x\",\"runtimeId\":\"y\"}")
                .field("detail"))
        .contains("runtimeId is unknown; the id of the sandbox is part of the path");
  }
}
