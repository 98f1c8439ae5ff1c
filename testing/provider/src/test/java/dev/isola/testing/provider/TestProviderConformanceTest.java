package dev.isola.testing.provider;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/** The contract, on the test double. */
class TestProviderConformanceTest extends ConformanceTest {
  @TempDir static Path data;

  @Override
  protected ProviderUnderTest underTest() {
    return new ProviderUnderTest(
        new TestProviderFactory(), ProviderConfig.EMPTY, new InstanceId("test"), data);
  }

  /** What tests of the engine and the server rely on; the agent is checked with subprocess. */
  @Override
  protected List<String> groups() {
    return unlessLong(
        "Lifecycle",
        "Idempotency",
        "Concurrency",
        "Errors",
        "Pausing",
        "Forking",
        "Recovery",
        "Failures",
        "Honesty");
  }
}
