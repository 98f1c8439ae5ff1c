package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;

@Tag("all")
final class CrunConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new CrunProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("crunconformance"),
        Files.createTempDirectory("isola"));
  }

  /**
   * The groups that depend on the bundle, of which {@link RuncConformanceTest} has the rest;
   * bubblewrap covers what only the agent does.
   */
  @Override
  protected List<String> groups() {
    return unlessLong("Escape", "SecretEnv", "ReservedMounts", "Quota", "LimitView", "Failures");
  }
}
