package dev.isola.provider.kubernetes.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubeconfigTest {
  private static final String FILE =
      """
      current-context: one
      contexts:
      - name: one
        context: {cluster: main, user: me, namespace: agents}
      - name: two
        context: {cluster: main, user: file}
      - name: three
        context: {cluster: main, user: plugin}
      - name: four
        context: {cluster: careless, user: me}
      - name: five
        context: {cluster: plain, user: me}
      - name: six
        context: {cluster: missing, user: me}
      clusters:
      - name: main
        cluster: {server: "https://10.0.0.1:6443/"}
      - name: careless
        cluster: {server: "https://10.0.0.1:6443", insecure-skip-tls-verify: true}
      - name: plain
        cluster: {server: "http://10.0.0.1:8080"}
      users:
      - name: me
        user: {token: secret}
      - name: file
        user: {tokenFile: token}
      - name: plugin
        user: {exec: {command: aws}}
      """;

  @TempDir Path folder;

  private ClusterAccess read(Optional<String> context) throws IOException {
    Path file = folder.resolve("config");
    Files.writeString(file, FILE);
    return Kubeconfig.read(file, context);
  }

  private static String token(ClusterAccess access) {
    return ClusterClient.text(access.token().current().orElseThrow().reveal());
  }

  @Test
  void readsTheCurrentContext() throws IOException {
    ClusterAccess access = read(Optional.empty());

    assertThat(access.server()).hasToString("https://10.0.0.1:6443");
    assertThat(access.namespace()).contains("agents");
    assertThat(token(access)).isEqualTo("secret");
  }

  @Test
  void readsATokenFileAgainForEachRequest() throws IOException {
    ClusterAccess access = read(Optional.of("two"));

    Files.writeString(folder.resolve("token"), "first\n");
    assertThat(token(access)).isEqualTo("first");
    Files.writeString(folder.resolve("token"), "second\n");
    assertThat(token(access)).isEqualTo("second");
  }

  @ParameterizedTest
  @CsvSource({
    "three, authenticates by exec",
    "four, insecure-skip-tls-verify is not supported",
    "five, has no https address",
    "six, clusters have no 'missing'",
    "seven, contexts have no 'seven'"
  })
  void saysWhatCannotBeUsed(String context, String reason) {
    assertThatThrownBy(() -> read(Optional.of(context)))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining(reason);
  }

  @Test
  void aProcessOutsideOfAPodHasNoServiceAccount() {
    assertThat(Kubeconfig.ofPod(Map.of())).isEmpty();
  }
}
