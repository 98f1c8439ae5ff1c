package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.DestroyOptions;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** P4: force and timeout of a destroy over HTTP, with a provider that can be slow. */
@Timeout(120)
class DestroyOptionsTest {
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir Path folder;
  private final CountDownLatch backend = new CountDownLatch(1);
  private final List<DestroyOptions> calls = new CopyOnWriteArrayList<>();
  private TestServer testServer;
  private TestClient client;
  private String sandbox;

  /** The subprocess provider, whose backend destroys nothing before the latch opens. */
  private final class SlowBackend implements ProviderFactory {
    private final SubprocessProviderFactory factory = new SubprocessProviderFactory();

    @Override
    public String name() {
      return factory.name();
    }

    @Override
    public ProviderProfile profile() {
      return factory.profile();
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      Provider provider = factory.create(config, context);
      return (Provider)
          Proxy.newProxyInstance(
              Provider.class.getClassLoader(),
              new Class<?>[] {Provider.class},
              (_, method, arguments) -> {
                if (method.getName().equals("destroy")) {
                  calls.add((DestroyOptions) arguments[1]);
                  assertThat(backend.await(60, TimeUnit.SECONDS)).isTrue();
                }
                try {
                  return method.invoke(provider, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }
  }

  @BeforeEach
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SlowBackend());
    client = testServer.client();
    sandbox = SANDBOXES + "/" + client.post(SANDBOXES, "{}").field("id");
  }

  @AfterEach
  void close() {
    backend.countDown();
    testServer.close();
  }

  @Test
  void destroyContinuesAfterItsTimeout() throws IOException {
    long start = System.nanoTime();
    TestClient.Response late = client.delete(sandbox + "?force=true&timeoutMs=200");
    assertThat(System.nanoTime() - start).isGreaterThan(Duration.ofMillis(200).toNanos());
    assertThat(late.status()).as(late.text()).isEqualTo(504);
    assertThat(late.json()).containsEntry("code", "DEADLINE_EXCEEDED");
    assertThat(late.field("detail")).endsWith("its destruction continues");
    assertThat(client.get(sandbox).field("state")).isEqualTo("terminating");
    assertThat(calls).containsExactly(DestroyOptions.FORCE);

    backend.countDown();
    assertThat(client.get(sandbox + "/wait?state=destroyed").status()).isEqualTo(200);
    assertThat(client.delete(sandbox + "?timeoutMs=1000").status()).as("again").isEqualTo(204);
  }

  @Test
  void optionsReachTheProvider() throws IOException {
    backend.countDown();
    assertThat(client.delete(sandbox + "?timeoutMs=60000").status()).isEqualTo(204);
    // The engine may destroy it again before the first call is recorded.
    assertThat(calls).startsWith(new DestroyOptions(false, Duration.ofMinutes(1)));
    assertThat(client.get(sandbox).field("state")).isEqualTo("destroyed");
  }

  /** Each request that times out would otherwise leave a thread behind. */
  @Test
  void manyTimedOutRequestsDestroyOnce() throws Exception {
    List<Callable<TestClient.Response>> deletes = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      deletes.add(() -> client.delete(sandbox + "?timeoutMs=" + (1 + deletes.size())));
    }
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<TestClient.Response> one : clients.invokeAll(deletes)) {
        assertThat(one.get().status()).as(one.get().text()).isEqualTo(504);
      }
    }
    backend.countDown();
    assertThat(client.get(sandbox + "/wait?state=destroyed").status()).isEqualTo(200);
    assertThat(calls).hasSize(1);
  }

  @Test
  void invalidOptionsAndLesserKeysAreRefused() throws IOException {
    backend.countDown();
    for (String query :
        List.of("timeoutMs=0", "timeoutMs=600001", "timeoutMs=soon", "force=1", "timeout=5")) {
      assertThat(client.delete(sandbox + "?" + query).status()).as(query).isEqualTo(400);
    }
    assertThat(testServer.client(testServer.read).delete(sandbox + "?timeoutMs=5").status())
        .isEqualTo(403);
    assertThat(client.get(sandbox).field("state")).isEqualTo("running");
    assertThat(client.delete(SANDBOXES + "/absent?timeoutMs=500").status()).isEqualTo(404);
  }
}
