package dev.isola.provider.proot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The probe detects a PRoot that is installed but does not work. */
class ProotProbeTest {
  @TempDir Path folder;

  private Health.Unhealthy healthOf(String program) {
    ProviderContext context =
        new ProviderContext(new InstanceId("broken"), folder, InstantSource.system());
    ProviderConfig config = new ProviderConfig(Map.of("program", program));
    try (Provider provider = new ProotProviderFactory().create(config, context)) {
      assertThat(provider.info().prerequisites())
          .allMatch(needed -> !needed.present() && !needed.fix().isEmpty());
      assertThat(provider.health()).isInstanceOf(Health.Unhealthy.class);
      return (Health.Unhealthy) provider.health();
    }
  }

  private String script(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("proot"), "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file.toString();
  }

  @Test
  void crashingProotIsUnhealthy() throws IOException {
    assertThat(healthOf(script("kill -SEGV $$")).reason()).contains("crashes on this kernel");
  }

  @Test
  void oldProotIsUnhealthy() throws IOException {
    assertThat(healthOf(script("echo '|_| v5.1.0'")).reason()).contains("PRoot 5.1.0 crashes");
  }

  @Test
  void prootThatRunsNothingIsUnhealthy() throws IOException {
    assertThat(healthOf(script("exit 0")).reason()).contains("cannot run a program");
  }

  @Test
  void missingProotIsUnhealthy() {
    assertThat(healthOf(folder.resolve("none").toString()).fix()).contains("install");
  }
}
