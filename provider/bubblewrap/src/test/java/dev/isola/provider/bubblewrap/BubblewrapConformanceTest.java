package dev.isola.provider.bubblewrap;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

final class BubblewrapConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new BubblewrapProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("bwrapconformance"),
        Files.createTempDirectory("isola"));
  }

  /** Returns all groups except those of {@link BubblewrapConfinementTest}. */
  @Override
  protected List<String> groups() {
    return ConformanceKit.groups().stream()
        .filter(group -> !BubblewrapConfinementTest.GROUPS.contains(group))
        .toList();
  }
}
