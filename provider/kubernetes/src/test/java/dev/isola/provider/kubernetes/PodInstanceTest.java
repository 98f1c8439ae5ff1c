package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the objects of an instance in a cluster belong to, and which processes may use them. */
@Timeout(120)
class PodInstanceTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);
  private static final SandboxId ID = new SandboxId("shared1");

  @TempDir Path first;
  @TempDir Path second;
  @TempDir Path third;

  @BeforeEach
  void need() {
    TestPods.need();
  }

  private static String run(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script), LIMIT).stdout().text();
  }

  @Test
  void serverWithAnotherDataFolderAttachesByTheSameKeyOnly() throws Exception {
    Path key = second.resolve("given");
    try (Provider creator = TestPods.provider(first);
        Provider sharing = TestPods.provider(second, "key_file", key.toString());
        Provider stranger = TestPods.provider(third)) {
      Sandbox created = creator.create(SandboxSpec.builder(ID).build());
      try {
        assertThatThrownBy(() -> sharing.attach(ID)).hasMessageContaining(key.toString());
        Files.copy(first.resolve("key"), key);

        Sandbox attached = sharing.attach(ID).orElseThrow();
        assertThat(run(attached, "echo here > file; hostname")).isEqualTo(ID + "\n");
        assertThatThrownBy(() -> stranger.attach(ID)).isInstanceOf(SandboxException.class);
        assertThat(run(attached, "cat file")).isEqualTo("here\n");
        assertThat(run(created, "cat file")).isEqualTo("here\n"); // it connects again
      } finally {
        sharing.destroy(ID, DestroyOptions.NORMAL);
      }
      assertThat(sharing.inventory()).isEmpty();
      assertThat(creator.inventory()).isEmpty();
    }
  }

  @Test
  void objectsOfAnInstanceAreRemovedAndThoseOfOthersAreNot() throws Exception {
    ProviderConfig config = new ProviderConfig(TestPods.settings());
    ProviderContext other =
        new ProviderContext(new InstanceId("othertest"), second, InstantSource.system());
    try (Provider provider = TestPods.provider(first);
        Provider another = new KubernetesProviderFactory().create(config, other)) {
      for (Provider one : new Provider[] {provider, another}) {
        one.create(SandboxSpec.builder(ID).build());
        one.destroy(ID, DestroyOptions.NORMAL);
      }
      provider.removeSharedResources();
      provider.removeSharedResources();
      assertThat(objects("kubernetestest")).isEmpty();
      assertThat(objects("othertest").lines()).hasSize(2);

      provider.create(SandboxSpec.builder(ID).build()); // makes them again
      provider.destroy(ID, DestroyOptions.NORMAL);
      another.removeSharedResources();
      assertThat(objects("othertest")).isEmpty();
    }
  }

  private static String objects(String instance) throws Exception {
    return TestPods.kubectl(
        "get", "configmaps,networkpolicies", "-l", "dev.isola.instance=" + instance, "-o", "name");
  }

  @Test
  void mountedVolumeCannotBeDestroyed() {
    try (Provider provider = TestPods.provider(first, "storage_class", "folders")) {
      Volumes volumes = provider.volumes().orElseThrow();
      VolumeMount mount = new VolumeMount(VolumeMount.Type.VOLUME, "Data_1", "/data", false);
      Sandbox sandbox = provider.create(SandboxSpec.builder(ID).volume(mount).build());
      try {
        assertThat(run(sandbox, "echo kept > /data/file; cat /data/file")).isEqualTo("kept\n");
        assertThat(volumes.list()).containsExactly("Data_1");
        assertThatThrownBy(() -> volumes.destroy("Data_1"))
            .isInstanceOf(Conflict.class)
            .hasMessageContaining("isola-kubernetestest-" + ID);
        assertThat(run(sandbox, "cat /data/file")).isEqualTo("kept\n");
      } finally {
        provider.destroy(ID, DestroyOptions.NORMAL);
        volumes.destroy("Data_1");
      }
      assertThat(volumes.list()).isEmpty();
    }
  }

  @Test
  void storageClassThatDoesNotExistIsTheReason() {
    try (Provider provider = TestPods.provider(first, "storage_class", "none")) {
      Volumes volumes = provider.volumes().orElseThrow();
      VolumeMount mount = new VolumeMount(VolumeMount.Type.VOLUME, "data", "/data", false);
      SandboxSpec spec =
          SandboxSpec.builder(ID).volume(mount).startupTimeout(Duration.ofSeconds(4)).build();
      try {
        assertThatThrownBy(() -> provider.create(spec))
            .hasMessageContaining("PersistentVolumeClaim");
      } finally {
        volumes.destroy("data");
      }
      assertThat(provider.inventory()).isEmpty();
    }
  }
}
