package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/**
 * The groups in which gVisor differs; {@code ./check --long} and {@code isola conformance gvisor}
 * run all of them.
 */
final class GvisorConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new GvisorProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("gvisorconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Timeout", "FileEscape", "Honesty", "Limits", "Pausing", "Egress");
  }
}
