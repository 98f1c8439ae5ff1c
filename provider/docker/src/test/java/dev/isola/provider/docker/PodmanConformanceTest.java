package dev.isola.provider.docker;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The conformance kit on Podman's service as root; complete in {@code ./check --long}. */
@Tag("all")
final class PodmanConformanceTest extends ConformanceTest {
  private @Nullable TestContainerEngine podman;

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    SharedEngine.need(TestContainerEngine.Kind.PODMAN);
    TestContainerEngine started = TestContainerEngine.podman();
    podman = started;
    return new ProviderUnderTest(
        new PodmanProviderFactory(),
        new ProviderConfig(Map.of("host", started.host())),
        UniqueResources.instanceId("podmanconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Pausing", "Egress");
  }

  @AfterAll
  void stop() {
    if (podman != null) {
      podman.close();
    }
  }
}
