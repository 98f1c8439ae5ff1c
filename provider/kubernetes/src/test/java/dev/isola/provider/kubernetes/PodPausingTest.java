package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sandboxes with a claim, stopped and resumed, and what clients of the cluster do to them. */
@Timeout(240)
class PodPausingTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);
  private static final SandboxId ID = new SandboxId("paused1");

  @TempDir Path folder;

  @BeforeEach
  void need() {
    TestPods.need();
  }

  private Provider provider() {
    return TestPods.provider(
        folder, "storage_class", "folders", "volume_size", "1Gi", "workspace", "claim");
  }

  private static String run(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script), LIMIT).stdout().text();
  }

  private static SandboxState state(Provider provider) {
    return provider.inventory().getFirst().state();
  }

  @Test
  void filesOutsideOfTheWorkspaceAreKeptByAnotherServer() throws Exception {
    try (Provider provider = provider()) {
      try {
        Sandbox sandbox =
            provider.create(SandboxSpec.builder(ID).env("TOKEN", "of the sandbox").build());
        assertThat(run(sandbox, "echo w > file; echo r > /opt/new; rm /etc/issue; cat /opt/new"))
            .isEqualTo("r\n");
        sandbox.as(Pausing.class).orElseThrow().pause(PauseKind.FILESYSTEM);
        assertThat(TestPods.kubectl("get", "pods", "-o", "name")).doesNotContain(ID.value());
        assertThat(TestPods.kubectl("get", "pvc,configmaps", "-o", "yaml"))
            .doesNotContain("of the sandbox");
      } catch (RuntimeException | AssertionError e) {
        provider.destroy(ID, DestroyOptions.NORMAL);
        throw e;
      }
    }
    try (Provider later = provider()) {
      try {
        assertThat(state(later)).isEqualTo(SandboxState.STOPPED);
        Sandbox sandbox = later.attach(ID).orElseThrow();
        sandbox.as(Pausing.class).orElseThrow().resume();
        assertThat(run(sandbox, "cat file /opt/new; ls /etc/issue; echo $TOKEN"))
            .isEqualTo("w\nr\nof the sandbox\n");
        assertThat(state(later)).isEqualTo(SandboxState.RUNNING);
      } finally {
        later.destroy(ID, DestroyOptions.NORMAL);
      }
      assertThat(later.inventory()).isEmpty();
      assertThat(
              TestPods.kubectl(
                  "get", "pvc,configmaps", "-l", "dev.isola.sandbox=" + ID, "-o", "name"))
          .isEmpty();
    }
  }

  @Test
  void failedResumeLeavesTheSandboxStopped() throws Exception {
    try (Provider provider = provider()) {
      Sandbox sandbox = provider.create(SandboxSpec.builder(ID).build());
      try {
        assertThat(run(sandbox, "echo w > file; cat file")).isEqualTo("w\n");
        Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
        pausing.pause(PauseKind.FILESYSTEM);
        TestPods.kubectl("create", "quota", "none", "--hard=pods=0");
        try {
          assertThatThrownBy(pausing::resume)
              .isInstanceOf(SandboxException.class)
              .hasMessageContaining("stays stopped");
        } finally {
          TestPods.kubectl("delete", "quota", "none");
        }
        assertThat(sandbox.state()).isEqualTo(SandboxState.STOPPED);
        assertThat(state(provider)).isEqualTo(SandboxState.STOPPED);
        pausing.resume();
        assertThat(run(sandbox, "cat file")).isEqualTo("w\n");
      } finally {
        provider.destroy(ID, DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void editedClaimIsRefusedAndCanBeDestroyed() throws Exception {
    String claim = WorkspaceClaims.name(new InstanceId("kubernetestest"), ID);
    try (Provider provider = provider()) {
      Sandbox sandbox = provider.create(SandboxSpec.builder(ID).build());
      try {
        Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
        pausing.pause(PauseKind.FILESYSTEM);
        TestPods.kubectl(
            "annotate",
            "pvc",
            claim,
            "--overwrite",
            "dev.isola.stored-pod=ZWRpdGVkIGJ5IGEgdXNlcg==");
        assertThatThrownBy(pausing::resume)
            .isInstanceOf(SandboxException.class)
            .hasMessageContaining("was changed");
      } finally {
        provider.destroy(ID, DestroyOptions.NORMAL);
      }
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void deletedPodIsNoStoppedSandbox() throws Exception {
    try (Provider provider = provider()) {
      Sandbox sandbox = provider.create(SandboxSpec.builder(ID).build());
      try {
        assertThat(run(sandbox, "echo w > file; cat file")).isEqualTo("w\n");
        Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
        pausing.pause(PauseKind.FILESYSTEM);
        pausing.resume();
        assertThat(run(sandbox, "cat file")).isEqualTo("w\n");
        TestPods.kubectl("delete", "pod", "isola-kubernetestest-" + ID);
        assertThat(provider.attach(ID)).isEmpty(); // ended otherwise, so not stopped
        assertThat(state(provider)).isNotEqualTo(SandboxState.STOPPED);
      } finally {
        provider.destroy(ID, DestroyOptions.NORMAL);
      }
      assertThat(provider.inventory()).isEmpty();
    }
  }
}
