package dev.isola.provider.docker;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/** Classes of the kit on Podman's service. */
final class PodmanConformanceTest extends ConformanceTest {
  private @Nullable OwnEngine podman;

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    OwnEngine started = OwnEngine.startPodman();
    podman = started;
    return new ProviderUnderTest(
        new PodmanProviderFactory(),
        new ProviderConfig(Map.of("host", started.host())),
        new InstanceId("podmanconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    String only = System.getProperty("groups.only", "");
    return only.isEmpty() ? List.of("Lifecycle", "Exec") : List.of(only.split(","));
  }

  @AfterAll
  void stop() {
    if (podman != null) {
      podman.close();
    }
  }
}
