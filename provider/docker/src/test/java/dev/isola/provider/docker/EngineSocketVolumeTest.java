package dev.isola.provider.docker;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Access to the engine's socket is root access to its host, so a volume must not expose it. */
@Timeout(60)
class EngineSocketVolumeTest {
  private static SandboxSpec with(Path source) {
    return SandboxSpec.builder(new SandboxId("abc"))
        .volume(VolumeMount.bind(source.toString(), "/given", true))
        .build();
  }

  @Test
  void engineSocketVolumeIsRefusedBeforeAnyRequest() throws IOException {
    try (StubEngine stub =
            new StubEngine(line -> StubEngine.response(500, "{\"message\": \"it was asked\"}"));
        TemporaryFolder data = TemporaryFolder.create("isola-data-");
        Provider provider =
            new DockerProviderFactory()
                .create(
                    new ProviderConfig(Map.of("host", stub.host())),
                    new ProviderContext(
                        UniqueResources.instanceId("given"),
                        data.path(),
                        InstantSource.system()))) {
      Path socket = Path.of(stub.host().substring("unix://".length()));
      Path folder = requireNonNull(socket.getParent());
      for (Path source : List.of(socket, folder)) {
        assertThatThrownBy(() -> provider.create(with(source)))
            .isInstanceOf(InvalidRequest.class)
            .hasMessageContaining("the socket of a container engine");
      }
      assertThat(stub.asked()).isEmpty();
      assertThatThrownBy(() -> provider.create(with(data.path())))
          .as("the control: another folder reaches the engine")
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("it was asked");
    }
  }
}
