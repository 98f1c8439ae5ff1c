package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.HostResources;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** P8, P11, O8: the resources of each provider are those of the machine that runs its sandboxes. */
class ProviderListTest {
  private static final String PROVIDERS = "/api/v1/providers";

  @TempDir Path folder;

  /** A provider whose sandboxes run elsewhere. */
  private record ElsewhereFactory(Optional<HostResources> resources) implements ProviderFactory {
    private static final ProviderProfile PROFILE =
        new ProviderProfile(Isolation.PROCESS, Hosting.REMOTE, Duration.ofMillis(10));

    @Override
    public String name() {
      return "elsewhere";
    }

    @Override
    public ProviderProfile profile() {
      return PROFILE;
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      Provider provider = new SubprocessProviderFactory().create(config, context);
      return (Provider)
          Proxy.newProxyInstance(
              Provider.class.getClassLoader(),
              new Class<?>[] {Provider.class},
              (_, method, arguments) -> {
                if (method.getName().equals("resources")) {
                  return resources;
                }
                try {
                  Object result = method.invoke(provider, arguments);
                  return result instanceof ProviderInfo info ? elsewhere(info) : result;
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }

    private static ProviderInfo elsewhere(ProviderInfo info) {
      return new ProviderInfo(
          "elsewhere",
          info.summary(),
          info.apiVersion(),
          info.isolation(),
          info.capabilities(),
          info.support(),
          info.prerequisites(),
          info.cleanup(),
          info.startup(),
          Hosting.REMOTE);
    }
  }

  private TestServer start(Optional<HostResources> resources, Map<String, String> settings) {
    return new TestServer(
        folder,
        Duration.ofSeconds(30),
        new ElsewhereFactory(resources),
        context -> HttpServerOptions.NONE,
        settings);
  }

  private static Map<?, ?> available(TestServer server) throws IOException {
    return (Map<?, ?>)
        Objects.requireNonNull(
            server.client().get(PROVIDERS).list("providers").getFirst().get("available"));
  }

  @Test
  void remoteProviderDoesNotShowTheResourcesOfThisMachine() throws IOException {
    try (TestServer server = start(Optional.empty(), Map.of())) {
      assertThat(available(server)).isEmpty();
      assertThat(server.client().get(PROVIDERS).list("providers").getFirst().get("resources"))
          .isNull();
    }
  }

  @Test
  void remoteProviderShowsWhatItReports() throws IOException {
    HostResources far =
        new HostResources(
            77, 700_000, OptionalLong.of(650_000), OptionalLong.empty(), OptionalLong.empty());
    try (TestServer server = start(Optional.of(far), Map.of())) {
      assertThat(available(server)).isEqualTo(Map.of("memoryMb", 650_000, "cpu", 77));
    }
  }

  @Test
  void configuredCapacityIsALimitOfRemoteProvidersToo() throws IOException {
    try (TestServer server =
        start(Optional.empty(), Map.of("providers.elsewhere.capacity_memory_mb", "5000"))) {
      assertThat(available(server)).isEqualTo(Map.of("memoryMb", 5000));
    }
  }

  @Test
  void listHasTheVersionsOfTheApi() throws IOException {
    try (TestServer server = new TestServer(folder)) {
      TestClient.Response list = server.client(server.read).get(PROVIDERS);
      assertThat(list.json())
          .containsEntry("apiVersion", "v2")
          .containsEntry("apiVersions", List.of("v1", "v2"));
      assertThat(list.list("providers").getFirst().get("apiVersion")).isEqualTo("v2");
    }
  }
}
