package dev.isola.testing.provider;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Runs the conformance kit against the test provider. */
@Tag("all")
class TestProviderConformanceTest extends ConformanceTest {
  @TempDir static Path data;

  @Override
  protected ProviderUnderTest underTest() {
    return new ProviderUnderTest(
        new TestProviderFactory(), ProviderConfig.EMPTY, new InstanceId("test"), data);
  }

  /** The groups that tests of the engine and the server rely on; subprocess covers the agent. */
  @Override
  protected List<String> groups() {
    return unlessLong(
        "Lifecycle", "Idempotency", "Concurrency", "Errors", "Pausing", "Forking", "Honesty");
  }
}
