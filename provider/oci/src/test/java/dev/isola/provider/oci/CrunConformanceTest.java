package dev.isola.provider.oci;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;

final class CrunConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new CrunProviderFactory(),
        ProviderConfig.EMPTY,
        new InstanceId("crunconformance"),
        Files.createTempDirectory("isola"));
  }
}
