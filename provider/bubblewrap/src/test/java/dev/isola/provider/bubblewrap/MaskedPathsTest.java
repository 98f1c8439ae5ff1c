package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.host.launch.Containment;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The kernel files that OCI runtimes mask are also empty with bubblewrap. */
final class MaskedPathsTest {
  @Test
  void maskedPathsAreEmptyOrAbsent() {
    assertThat(Files.isReadable(Path.of("/proc/interrupts"))).as("the host has one").isTrue();
    try (TemporaryInstallation installation =
            TemporaryInstallation.of(new BubblewrapProviderFactory());
        Provider provider = installation.open()) {
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        Assumptions.abort("NOT RUN: " + unhealthy.reason());
      }
      Sandbox sandbox =
          provider.create(
              SandboxSpec.builder(new SandboxId("masked"))
                  .deadline(Duration.ofMinutes(10))
                  .build());
      try {
        for (String path : Containment.MASKED) {
          assertThat(content(sandbox, path)).as(path).isEmpty();
        }
      } finally {
        provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      }
      assertThat(provider.inventory()).isEmpty();
    }
  }

  private static String content(Sandbox sandbox, String path) {
    ExecResult result =
        sandbox.run(
            Command.shell(
                "if test -d %1$s; then ls -A %1$s; elif test -e %1$s; then head -c 1 %1$s; fi"
                    .formatted(path)));
    assertThat(result.succeeded()).as("%s: %s", path, result).isTrue();
    return result.stdout().text();
  }
}
