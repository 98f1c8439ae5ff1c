package dev.isola.provider.microvm.qemu;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.provider.microvm.MachineTestImage;
import dev.isola.provider.microvm.TestKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;

/**
 * A part of the kit, because an emulated machine is slow; {@code ./check --long} and {@code isola
 * conformance qemu} run all of it.
 */
@Tag("all")
final class QemuConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws IOException {
    Path data = Files.createTempDirectory("isola");
    try {
      MachineTestImage.addTo(data);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    return new ProviderUnderTest(
        new QemuProviderFactory(),
        TestKernel.config(),
        UniqueResources.instanceId("qemuconformance"),
        data);
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Lifecycle", "Egress");
  }
}
