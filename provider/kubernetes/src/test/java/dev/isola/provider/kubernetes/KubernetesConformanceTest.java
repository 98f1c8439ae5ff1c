package dev.isola.provider.kubernetes;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** The conformance kit on a real cluster; complete in {@code ./check --long}. */
final class KubernetesConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    TestPods.need();
    return new ProviderUnderTest(
        new KubernetesProviderFactory(),
        new ProviderConfig(TestPods.settings("storage_class", "folders", "volume_size", "1Gi")),
        UniqueResources.instanceId("kubernetesconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Recovery");
  }
}
