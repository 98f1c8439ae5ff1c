package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.link.InstallationKey;
import dev.isola.spi.Bytes;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a stopped sandbox leaves in the cluster, and what a resume accepts. */
class StoredPodTest {
  private static final InstanceId INSTANCE = new InstanceId("a");
  private static final SandboxId ID = new SandboxId("sandbox1");
  private static final StoredPod POD =
      new StoredPod(
          "{\"kind\":\"Pod\"}", "isola-a-agent-1", Bytes.utf8("TOKEN=in the environment"));

  @TempDir Path folder;

  private Secret key(SandboxId id) {
    return InstallationKey.in(folder).secretOf(id, StoredPod.PURPOSE);
  }

  @Test
  void onlyTheSameSandboxOfTheSameInstanceIsAccepted(@TempDir Path other) throws IOException {
    String sealed = POD.seal(key(ID), INSTANCE, ID);

    assertThat(sealed).doesNotContain("TOKEN", "Pod");
    assertThat(POD).asString().doesNotContain("TOKEN");
    assertThat(StoredPod.unseal(sealed, key(ID), INSTANCE, ID).record().toArray())
        .isEqualTo(POD.record().toArray());

    SandboxId another = new SandboxId("sandbox2");
    assertThatThrownBy(() -> StoredPod.unseal(sealed, key(ID), new InstanceId("b"), ID))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> StoredPod.unseal(sealed, key(another), INSTANCE, another))
        .isInstanceOf(IOException.class);
    Secret foreign = InstallationKey.in(other).secretOf(ID, StoredPod.PURPOSE);
    assertThatThrownBy(() -> StoredPod.unseal(sealed, foreign, INSTANCE, ID))
        .isInstanceOf(IOException.class);
    Secret agents = InstallationKey.in(folder).secretOf(ID);
    assertThatThrownBy(() -> StoredPod.unseal(sealed, agents, INSTANCE, ID))
        .isInstanceOf(IOException.class);
  }

  @Test
  void editedTextIsRefused() {
    String sealed = POD.seal(key(ID), INSTANCE, ID);
    char[] edited = sealed.toCharArray();
    edited[30] = edited[30] == 'A' ? 'B' : 'A';
    for (String text :
        List.of(new String(edited), "", "AAAA", "not base 64", sealed.substring(4))) {
      assertThatThrownBy(() -> StoredPod.unseal(text, key(ID), INSTANCE, ID))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void removedNamesAreThoseThatOnlyTheImageHas() {
    Set<String> image =
        new LinkedHashSet<>(List.of("bin", "bin/a", "opt", "opt/b", "opt/b/c", "optional"));
    assertThat(SavedFiles.removed(image, Set.of("bin", "bin/a", "bin/new", "optional")))
        .containsExactly("opt");
    assertThat(SavedFiles.removed(image, image)).isEmpty();
  }
}
