package dev.isola.provider.proot;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;

@Tag("all")
final class ProotConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new ProotProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("conformance"),
        Files.createTempDirectory("isola"));
  }

  /** Omits the checks that bubblewrap runs with the same agent. */
  @Override
  protected List<String> groups() {
    return unlessLong("Lifecycle", "Honesty", "Exec", "Files", "Failures");
  }
}
