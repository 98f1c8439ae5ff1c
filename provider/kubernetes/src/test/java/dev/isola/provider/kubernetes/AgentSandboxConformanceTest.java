package dev.isola.provider.kubernetes;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** The conformance kit with the controller of agent-sandbox; complete in {@code ./check --long}. */
final class AgentSandboxConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException, InterruptedException {
    TestPods.needAgentSandbox();
    return new ProviderUnderTest(
        new KubernetesProviderFactory(),
        new ProviderConfig(
            TestPods.settings(
                "mode", "agent-sandbox", "storage_class", "folders", "volume_size", "1Gi")),
        UniqueResources.instanceId("agentsandboxconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Lifecycle");
  }
}
