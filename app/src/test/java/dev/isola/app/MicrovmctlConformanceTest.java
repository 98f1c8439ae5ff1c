package dev.isola.app;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.provider.microvmctl.MicrovmctlProviderFactory;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;

/**
 * B11: runs the conformance kit on the provider {@code microvmctl} with the command that Isola
 * ships, whose backend is bubblewrap. Every sandbox costs five processes of the command, so {@code
 * ./check} runs one small class and {@code ./check --long} all.
 */
@Tag("all")
final class MicrovmctlConformanceTest extends ConformanceTest {
  private @Nullable MicrovmctlProgram program;
  private @Nullable Path folder;

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    Path all = Files.createTempDirectory("isola");
    folder = all;
    MicrovmctlProgram installed = MicrovmctlProgram.install(all);
    program = installed;
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new MicrovmctlProviderFactory(),
            new ProviderConfig(Map.of("cli", installed.path().toString())),
            new InstanceId("microvmctlconformance"),
            Files.createTempDirectory("isola"));
    try (Provider provider = underTest.open()) {
      Assumptions.assumeTrue(
          provider.health().usable(), "NOT RUN: the backend of microvmctl is not healthy here");
    }
    return underTest;
  }

  @AfterAll
  void stop() {
    if (program != null) {
      program.close();
    }
    if (folder != null) {
      TemporaryFolder.remove(folder);
    }
  }

  @Override
  protected List<String> groups() {
    return unlessLong("SecretEnv");
  }
}
