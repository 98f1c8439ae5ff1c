package dev.isola.provider.bubblewrap;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;

final class BubblewrapConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new BubblewrapProviderFactory(),
        ProviderConfig.EMPTY,
        new InstanceId("bwrapconformance"),
        Files.createTempDirectory("isola"));
  }
}
