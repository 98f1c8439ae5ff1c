package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;

final class RuncConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new RuncProviderFactory(),
        ProviderConfig.EMPTY,
        new InstanceId("runcconformance"),
        Files.createTempDirectory("isola"));
  }
}
