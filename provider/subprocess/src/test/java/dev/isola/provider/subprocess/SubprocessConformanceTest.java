package dev.isola.provider.subprocess;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

final class SubprocessConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new SubprocessProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("plainconformance"),
        Files.createTempDirectory("isola"));
  }

  /** Omits the checks that bubblewrap runs with the same agent. */
  @Override
  protected List<String> groups() {
    return unlessLong(
        "Lifecycle",
        "Honesty",
        "Idempotency",
        "Exec",
        "Files",
        "Recovery",
        "Snapshots",
        "Failures");
  }
}
