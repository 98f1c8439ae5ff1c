package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands, relative file paths and snapshots use the same folder, whatever working folder the
 * image sets.
 */
@Timeout(180)
class WorkingFolderTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "crun", "runc"})
  void commandsFilesAndSnapshotsShareOneFolder(String provider) throws IOException {
    assertOneFolder(provider, "unix:///nowhere/docker.sock");
  }

  @Test
  void commandsAndFilesShareOneFolderInProot() throws IOException {
    SmallImage.addTo(folder, folder);
    try (ProviderEngine made =
        ProviderEngine.open(folder, "unix:///nowhere/docker.sock", List.of("proot"))) {
      workspace(made, "proot");
    }
  }

  @Test
  void commandsFilesAndSnapshotsShareOneFolderInDocker() throws IOException {
    TestContainerEngine.Kind.DOCKER
        .missing()
        .ifPresent(what -> Assumptions.abort("NOT RUN: " + what + " is missing"));
    try (TestContainerEngine containers = TestContainerEngine.docker(false)) {
      assertOneFolder("docker", containers.host());
    }
  }

  private Sandbox workspace(ProviderEngine made, String provider) {
    Sandbox source =
        made.make(SandboxSpec.builder(new SandboxId("source")).image(SmallImage.NAME), provider);
    assertThat(ProviderEngine.output(source, "pwd")).isEqualTo("/workspace\n");
    ProviderEngine.output(source, "echo by a command > written");
    source.files().writeText("copied", "by the client\n", UTF_8);
    assertThat(ProviderEngine.output(source, "cat /workspace/written /workspace/copied"))
        .isEqualTo("by a command\nby the client\n");
    return source;
  }

  private void assertOneFolder(String provider, String docker) throws IOException {
    SmallImage.addTo(folder, folder);
    try (ProviderEngine made = ProviderEngine.open(folder, docker, List.of(provider))) {
      Sandbox source = workspace(made, provider);
      String image =
          SnapshotImageName.of(
              made.engine()
                  .snapshots()
                  .create(source.id(), SnapshotRequest.WORKSPACE)
                  .snapshot()
                  .id());
      Sandbox restored =
          made.make(SandboxSpec.builder(new SandboxId("restored")).image(image), provider);
      assertThat(ProviderEngine.output(restored, "cat written copied"))
          .isEqualTo("by a command\nby the client\n");
    }
  }
}
