package dev.isola.provider.docker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SandboxKeysTest {
  private static final InstanceId INSTANCE = new InstanceId("mine");
  private static final SandboxId ONE = new SandboxId("one");
  private static final SandboxId TWO = new SandboxId("two");

  @TempDir private Path data;

  @Test
  void secretsAreStableAndDifferPerSandbox() {
    SandboxKeys first = new SandboxKeys(data, INSTANCE);
    SandboxKeys second = new SandboxKeys(data, INSTANCE);
    assertThat(first.agentSecret(ONE)).isEqualTo(second.agentSecret(ONE));
    assertThat(first.agentSecret(ONE)).isNotEqualTo(first.agentSecret(TWO));
    assertThat(first.agentSecret(ONE))
        .isNotEqualTo(new SandboxKeys(data, new InstanceId("theirs")).agentSecret(ONE));
    assertThat(first.agentSecret(ONE).reveal()).hasSize(32);
  }

  @Test
  void keyFileIsReadableByItsOwnerOnly() throws IOException {
    new SandboxKeys(data, INSTANCE).agentSecret(ONE);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("key"))))
        .isEqualTo("rw-------");
    try (var files = Files.list(data)) {
      assertThat(files).containsExactly(data.resolve("key"));
    }
  }

  @Test
  void sealedContentIsBoundToItsSandbox() throws IOException {
    SandboxKeys keys = new SandboxKeys(data, INSTANCE);
    String sealed = keys.seal(ONE, "TOKEN=hunter2".getBytes(UTF_8));
    assertThat(sealed).doesNotContain("hunter2").isNotEqualTo(keys.seal(ONE, new byte[] {1}));
    assertThat(new SandboxKeys(data, INSTANCE).open(ONE, sealed))
        .asString(UTF_8)
        .isEqualTo("TOKEN=hunter2");
    assertThatThrownBy(() -> keys.open(TWO, sealed)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> keys.open(ONE, "AAAA" + sealed.substring(4)))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> keys.open(ONE, "")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> keys.open(ONE, "!")).isInstanceOf(IOException.class);
  }

  @Test
  void damagedKeyIsNotReplaced() throws IOException {
    Files.writeString(data.resolve("key"), "short");
    assertThatThrownBy(() -> new SandboxKeys(data, INSTANCE).agentSecret(ONE))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("5 bytes");
    assertThat(data.resolve("key")).hasContent("short");
  }
}
