package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.digest.Sha256;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineAddressResolverTest {
  @TempDir private Path home;

  private EngineAddress find(Map<String, String> settings, Map<String, String> env) {
    return new EngineAddressResolver(EngineVariant.DOCKER, new ProviderConfig(settings), env, home)
        .resolve();
  }

  private void context(String name, String host) throws IOException {
    String hash = Sha256.hex(name);
    Path folder = Files.createDirectories(home.resolve(".docker/contexts/meta").resolve(hash));
    Files.writeString(
        folder.resolve("meta.json"),
        "{\"Name\": \"" + name + "\", \"Endpoints\": {\"docker\": {\"Host\": \"" + host + "\"}}}");
  }

  @Test
  void settingPrecedesEnvironmentAndContext() throws IOException {
    context("away", "tcp://10.0.0.1:2375");
    Files.writeString(home.resolve(".docker/config.json"), "{\"currentContext\": \"away\"}");
    Map<String, String> env = Map.of("DOCKER_HOST", "unix:///b.sock");
    assertThat(find(Map.of("host", "unix:///a.sock"), env)).hasToString("unix:///a.sock");
    assertThat(find(Map.of(), env)).hasToString("unix:///b.sock");
    assertThat(find(Map.of(), Map.of())).hasToString("tcp://10.0.0.1:2375");
    assertThat(find(Map.of(), Map.of("DOCKER_CONTEXT", "default")))
        .hasToString("unix:///var/run/docker.sock");
    assertThat(find(Map.of("context", "away"), env)).hasToString("tcp://10.0.0.1:2375");
  }

  @Test
  void onlyUnixSocketsAreLocal() {
    assertThat(find(Map.of("host", "/run/x.sock"), Map.of()).local()).isTrue();
    assertThat(find(Map.of("host", "tcp://127.0.0.1"), Map.of()).local()).isFalse();
  }

  @Test
  void podmanHasItsOwnDefaults() {
    assertThat(
            new EngineAddressResolver(
                    EngineVariant.PODMAN,
                    ProviderConfig.EMPTY,
                    Map.of("DOCKER_HOST", "unix:///docker.sock"),
                    home)
                .resolve())
        .hasToString("unix:///var/run/podman/podman.sock");
  }

  @Test
  void unusableAddressIsReportedWithARemedy() {
    for (String wrong :
        new String[] {"ssh://me@there", "npipe://x", "tcp://host:port", "nonsense"}) {
      assertThatThrownBy(() -> find(Map.of("host", wrong), Map.of()))
          .as(wrong)
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("unix:///path");
    }
    assertThatThrownBy(() -> find(Map.of("context", "unknown"), Map.of()))
        .isInstanceOf(InvalidRequest.class);
  }
}
