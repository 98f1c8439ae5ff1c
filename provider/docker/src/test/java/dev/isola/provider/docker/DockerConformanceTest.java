package dev.isola.provider.docker;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The conformance kit on a real Docker engine with user remapping. {@code ./check --long} runs all
 * classes, the build only those that depend on the engine.
 */
@ExtendWith(SharedEngine.class)
final class DockerConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new DockerProviderFactory(),
        new ProviderConfig(Map.of("host", SharedEngine.host())),
        UniqueResources.instanceId("dockerconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Pausing", "Egress", "Recovery");
  }
}
