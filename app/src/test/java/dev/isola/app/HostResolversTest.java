package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** S3: a sandbox on the host's network resolves names like the host, with any root file system. */
@Timeout(120)
class HostResolversTest {
  private static final Path RESOLV_CONF = Path.of("/etc/resolv.conf");

  @TempDir Path folder;

  @BeforeEach
  void requireResolvers() throws IOException {
    if (!Files.isReadable(RESOLV_CONF) || Files.readString(RESOLV_CONF).isBlank()) {
      Assumptions.abort("NOT RUN: this machine has no resolvers");
    }
  }

  private Provider open(String name) throws IOException {
    ProviderFactory factory =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow();
    Provider provider =
        factory.create(
            ProviderConfig.EMPTY,
            new ProviderContext(
                new InstanceId(SandboxId.random(new SecureRandom()).value()),
                Files.createDirectories(folder.resolve(name)),
                folder,
                InstantSource.system()));
    if (provider.health() instanceof Health.Unhealthy unhealthy) {
      provider.close();
      Assumptions.abort("NOT RUN: " + unhealthy.reason());
    }
    return provider;
  }

  @ParameterizedTest
  @CsvSource({"bubblewrap, host", "bubblewrap, small", "crun, host", "crun, small", "runc, small"})
  void hostNetworkUsesTheHostsResolvers(String name, String image) throws IOException {
    SmallImage.addTo(folder, folder);
    SandboxId id = new SandboxId("resolving");
    SandboxSpec.Builder spec =
        SandboxSpec.builder(id)
            .image(image)
            .deadline(Duration.ofMinutes(2))
            .workspaceMount("/workspace");
    try (Provider provider = open(name)) {
      try {
        Sandbox sandbox = provider.create(spec.network(Network.of(NetworkMode.HOST)).build());
        assertThat(sandbox.run(Command.shell("cat /etc/resolv.conf")).stdout().text())
            .isEqualTo(Files.readString(RESOLV_CONF));
        provider.destroy(id, DestroyOptions.FORCE);
        Sandbox offline = provider.create(spec.network(Network.of(NetworkMode.NONE)).build());
        assertThat(offline.run(Command.shell("cat /etc/resolv.conf")).stdout().text())
            .as("without a network there are no resolvers")
            .isEmpty();
      } finally {
        provider.destroy(id, DestroyOptions.FORCE);
      }
    }
  }
}
