package dev.isola.provider.example;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;

@Tag("all")
final class ExampleConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new ExampleProviderFactory(),
        ProviderConfig.EMPTY,
        new InstanceId("example"),
        Files.createTempDirectory("isola-ex"));
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Lifecycle", "Honesty", "Recovery");
  }
}
