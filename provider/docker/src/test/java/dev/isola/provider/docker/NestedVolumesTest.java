package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import org.junit.jupiter.api.Test;

/** Nothing is mounted below files in which another sandbox may have placed links. */
class NestedVolumesTest {
  private static final DockerSpecCheck CHECK =
      new DockerSpecCheck(
          "docker", EngineAddressResolver.parse("unix:///run/docker.sock"), false, false);

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(new SandboxId("abc"));
  }

  private static VolumeMount volume(VolumeMount.Type type, String destination) {
    return new VolumeMount(type, type == VolumeMount.Type.TMPFS ? "" : "kept", destination, false);
  }

  @Test
  void volumesBelowAVolumeAreRefused() {
    SandboxSpec.Builder nested =
        spec()
            .volume(volume(VolumeMount.Type.VOLUME, "/data"))
            .volume(volume(VolumeMount.Type.TMPFS, "/data/./link"));
    assertThatThrownBy(() -> CHECK.requireSupported(nested.build()))
        .isInstanceOf(Unsupported.class)
        .hasMessageContaining("below another volume");
  }

  @Test
  void workspaceBelowAVolumeIsRefused() {
    SandboxSpec.Builder nested =
        spec().workspaceMount("/data/work").volume(volume(VolumeMount.Type.VOLUME, "/data"));
    assertThatThrownBy(() -> CHECK.requireSupported(nested.build()))
        .isInstanceOf(Unsupported.class);
  }

  @Test
  void volumesInTheSandboxRootAreAccepted() {
    SandboxSpec.Builder beside =
        spec()
            .volume(volume(VolumeMount.Type.VOLUME, "/workspace/data"))
            .volume(volume(VolumeMount.Type.VOLUME, "/workspace/database"))
            .volume(volume(VolumeMount.Type.TMPFS, "/scratch"));
    assertThatCode(() -> CHECK.requireSupported(beside.build())).doesNotThrowAnyException();
  }
}
