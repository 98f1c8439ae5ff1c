package dev.isola.provider.bubblewrap;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/**
 * The limits and confinement groups of the kit; {@link BubblewrapConformanceTest} has the others.
 */
final class BubblewrapConfinementTest extends ConformanceTest {
  /** The slowest checks, in a separate class so that both run in parallel. */
  static final List<String> GROUPS =
      List.of(
          "Escape",
          "FileEscape",
          "HostileTrees",
          "Limits",
          "LimitView",
          "ProcessLimit",
          "Quota",
          "ReservedMounts",
          "Exhaustion",
          "Snapshots",
          "Forking");

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    return new ProviderUnderTest(
        new BubblewrapProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("bwrapconfinement"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return GROUPS;
  }
}
