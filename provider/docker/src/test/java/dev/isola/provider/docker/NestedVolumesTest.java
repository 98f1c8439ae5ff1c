package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import org.junit.jupiter.api.Test;

/** Nothing is mounted in files that another sandbox may have filled with links. */
class NestedVolumesTest {
  private static final SpecCheck CHECK =
      new SpecCheck("docker", EngineAddresses.parse("unix:///run/docker.sock"), false, false);

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(new SandboxId("abc"));
  }

  private static Volume volume(Volume.Type type, String destination) {
    return new Volume(type, type == Volume.Type.TMPFS ? "" : "kept", destination, false);
  }

  @Test
  void volumesBeneathAVolumeAreRefused() {
    SandboxSpec.Builder nested =
        spec()
            .volume(volume(Volume.Type.VOLUME, "/data"))
            .volume(volume(Volume.Type.TMPFS, "/data/./link"));
    assertThatThrownBy(() -> CHECK.refuse(nested.build()))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("beneath another volume");
  }

  @Test
  void aWorkspaceBeneathAVolumeIsRefused() {
    SandboxSpec.Builder nested =
        spec().workspaceMount("/data/work").volume(volume(Volume.Type.VOLUME, "/data"));
    assertThatThrownBy(() -> CHECK.refuse(nested.build())).isInstanceOf(Unsupported.class);
  }

  @Test
  void volumesInTheSandboxsOwnFilesAreTaken() {
    SandboxSpec.Builder beside =
        spec()
            .volume(volume(Volume.Type.VOLUME, "/workspace/data"))
            .volume(volume(Volume.Type.VOLUME, "/workspace/database"))
            .volume(volume(Volume.Type.TMPFS, "/scratch"));
    assertThatCode(() -> CHECK.refuse(beside.build())).doesNotThrowAnyException();
  }
}
