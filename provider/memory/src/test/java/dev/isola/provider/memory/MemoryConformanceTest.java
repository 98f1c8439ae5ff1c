package dev.isola.provider.memory;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract, on memory. */
class MemoryConformanceTest extends ConformanceTest {
  @TempDir static Path data;

  @Override
  protected ProviderUnderTest underTest() {
    return new ProviderUnderTest(
        new MemoryProviderFactory(), ProviderConfig.EMPTY, new InstanceId("test"), data);
  }
}
