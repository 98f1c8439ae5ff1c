package dev.isola.provider.bubblewrap;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** The part of the kit about limits and escapes; {@link BubblewrapConformanceTest} has the rest. */
final class BubblewrapConfinementTest extends ConformanceTest {
  /** The checks that take longest, in a class of their own so that both halves run at once. */
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
        new InstanceId("bwrapconfinement"),
        Files.createTempDirectory("isola"));
  }

  @Override
  protected List<String> groups() {
    return GROUPS;
  }
}
