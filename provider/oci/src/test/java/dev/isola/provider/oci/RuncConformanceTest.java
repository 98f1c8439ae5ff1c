package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/**
 * The groups that depend on the runtime; {@link CrunConformanceTest} has those of the bundle, which
 * is the same. {@code ./check --long} and {@code isola conformance runc} run all groups.
 */
final class RuncConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new RuncProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("runcconformance"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong(
        "Lifecycle", "Honesty", "Limits", "ProcessLimit", "Pausing", "Recovery", "Egress");
  }
}
