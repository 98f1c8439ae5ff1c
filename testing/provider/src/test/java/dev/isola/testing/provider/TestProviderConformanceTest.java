package dev.isola.testing.provider;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract, on memory. */
class TestProviderConformanceTest extends ConformanceTest {
  @TempDir static Path data;

  @Override
  protected ProviderUnderTest underTest() {
    return new ProviderUnderTest(
        new TestProviderFactory(), ProviderConfig.EMPTY, new InstanceId("test"), data);
  }
}
