package dev.isola.provider.kubernetes;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** The same kit with a claim for each sandbox, which adds pausing. */
final class KubernetesClaimConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    TestPods.need();
    return new ProviderUnderTest(
        new KubernetesProviderFactory(),
        new ProviderConfig(
            TestPods.settings(
                "storage_class", "folders", "volume_size", "1Gi", "workspace", "claim")),
        UniqueResources.instanceId("kubernetesclaims"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Pausing");
  }
}
