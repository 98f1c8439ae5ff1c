package dev.isola.engine.secret;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Internal;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sources of the key for encrypted values. */
class EncryptionKeysTest {
  private static final byte[] KEY = new byte[32];
  private static final String TEXT = Base64.getEncoder().encodeToString(KEY);

  @TempDir Path folder;

  private EncryptionKeys open(String source, Map<String, String> env) {
    return EncryptionKeys.open(
        folder, Optional.of(KeySource.parse(source).orElseThrow()), Optional.empty(), env);
  }

  private Path file(String mode, byte[] content) throws IOException {
    Path file = Files.write(folder.resolve("key"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void everySourceProvidesTheSameKey() throws IOException {
    String id = EncryptionKey.of(KEY).id();
    assertThat(open("env:K", Map.of("K", TEXT)).current().orElseThrow().id()).isEqualTo(id);
    assertThat(open("command: printf '" + TEXT + "\\n'", Map.of()).current().orElseThrow().id())
        .isEqualTo(id);
    for (byte[] content : new byte[][] {KEY, (TEXT + "\n").getBytes(UTF_8)}) {
      Path file = file("rw-------", content);
      assertThat(open("file:" + file, Map.of()).current().orElseThrow().id()).isEqualTo(id);
    }
    assertThat(id).doesNotContain(TEXT.substring(0, 8));
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rwxrwxrwx"})
  void keyFileThatOthersCanAccessIsRefused(String mode) throws IOException {
    Path file = file(mode, KEY);
    assertThatThrownBy(() -> open("file:" + file, Map.of()))
        .isInstanceOf(Internal.class)
        .hasMessageContaining("accessible to other users")
        .hasMessageContaining("chmod 600");
  }

  @Test
  void configuredFileIsNotCreated() {
    assertThatThrownBy(() -> open("file:" + folder.resolve("none"), Map.of()))
        .hasMessageContaining("does not exist");
    assertThat(folder.resolve("none")).doesNotExist();
  }

  @Test
  void noErrorContainsWhatASourceProvided() {
    String bad = "planted-not-a-key-5f";
    for (String source : new String[] {"env:K", "command:echo " + bad + "$((1))"}) {
      assertThatThrownBy(() -> open(source, Map.of("K", bad + "1")))
          .isInstanceOf(Internal.class)
          .satisfies(
              e -> assertThat(((SandboxException) e).fault().toString()).doesNotContain(bad + "1"));
    }
    assertThatThrownBy(
            () -> open("command:echo " + bad + "$((1)); echo denied by kms >&2; exit 3", Map.of()))
        .hasMessageContaining("exited with 3: denied by kms")
        .satisfies(e -> assertThat(e.toString()).doesNotContain(bad + "1"));
    assertThatThrownBy(() -> open("env:ABSENT", Map.of())).hasMessageContaining("ABSENT");
  }

  @Test
  void commandHasADeadlineAndABoundedOutput() {
    assertThatThrownBy(() -> new KeyCommand("sleep 600 & sleep 600", Duration.ofMillis(300)).run())
        .isInstanceOf(Internal.class)
        .hasMessageContaining("did not end");
    // The JDK drains and closes the output of a process that ends before it is read.
    assertThatThrownBy(
            () -> new KeyCommand("sleep 30 & sleep 2; echo", Duration.ofSeconds(4)).run())
        .hasMessageContaining("did not close its output");
    assertThatThrownBy(
            () -> new KeyCommand("head -c 10000000 /dev/zero", Duration.ofSeconds(20)).run())
        .hasMessageContaining("printed more than 4096 bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "secrets.key", "file:relative", "env:", "env:A B", "command:", "kms:x"})
  void otherTextIsNoSource(String text) {
    assertThat(KeySource.parse(text)).isEmpty();
  }
}
