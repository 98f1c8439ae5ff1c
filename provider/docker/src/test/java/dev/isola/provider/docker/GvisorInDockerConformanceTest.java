package dev.isola.provider.docker;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.host.launch.HostProgram;
import dev.isola.spi.provider.ProviderConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The conformance kit on gVisor as a runtime of a real engine; complete in {@code ./check --long}.
 */
@ExtendWith(SharedEngine.class)
@Tag("all")
final class GvisorInDockerConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() {
    if (HostProgram.find("runsc").isEmpty()) {
      Assumptions.abort("NOT RUN: runsc is not installed");
    }
    return new ProviderUnderTest(
        new DockerGvisorProviderFactory(),
        new ProviderConfig(Map.of("host", SharedEngine.host())),
        UniqueResources.instanceId("gvisorindocker"),
        TemporaryFolder.create("isola").path()); // gVisor accesses it as a remapped user.
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Pausing", "Egress");
  }
}
