package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.launch.Containment;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.capability.Sandbox;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The kernel files that OCI runtimes mask are also empty with bubblewrap. */
final class MaskedPathsTest extends ForkTestBase {
  @Test
  void maskedPathsAreEmptyOrAbsent() {
    assertThat(Files.isReadable(Path.of("/proc/interrupts"))).as("the host has one").isTrue();
    Sandbox sandbox = make("masked");
    try {
      for (String path : Containment.MASKED) {
        assertThat(
                output(
                    sandbox,
                    "if test -d %1$s; then ls -A %1$s; elif test -e %1$s; then head -c 1 %1$s; fi"
                        .formatted(path)))
            .as(path)
            .isEmpty();
      }
    } finally {
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
    assertThat(leaks.leakedSince(before)).isEmpty();
  }
}
