package dev.isola.provider.microvm.firecracker;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.provider.microvm.MachineTestImage;
import dev.isola.provider.microvm.TestKernel;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * The conformance kit on a real Firecracker, which the variable ISOLA_FIRECRACKER names, with its
 * jailer beside it. NOT RUN without it, and where KVM boots no machine: {@code
 * testing/firecracker-here.sh} says why.
 */
final class FirecrackerConformanceTest extends ConformanceTest {
  private static final InstanceId INSTANCE = UniqueResources.instanceId("firecracker");

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    Optional<String> program =
        Optional.ofNullable(System.getenv("ISOLA_FIRECRACKER")).filter(path -> !path.isEmpty());
    Assumptions.assumeTrue(
        program.isPresent(), "NOT RUN: ISOLA_FIRECRACKER does not name a Firecracker");
    Map<String, String> settings = new HashMap<>(TestKernel.config().settings());
    settings.put(FirecrackerProgram.SETTING, program.orElseThrow());
    ProviderConfig config = new ProviderConfig(settings);
    Path data = Files.createTempDirectory("isola");
    try (Provider provider =
        new FirecrackerProviderFactory()
            .create(config, new ProviderContext(INSTANCE, data, Clock.systemUTC()))) {
      if (provider.health() instanceof Health.Unhealthy(String reason, String fix)) {
        Assumptions.abort("NOT RUN: " + reason + "; " + fix);
      }
    }
    try {
      MachineTestImage.addTo(data);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    return new ProviderUnderTest(new FirecrackerProviderFactory(), config, INSTANCE, data);
  }
}
