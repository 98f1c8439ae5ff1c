package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.launch.Containment;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every boot of a container has its own boot id where the server has access to containers. */
@Tag("all")
@Timeout(180)
@ExtendWith(SharedEngine.class)
final class EngineBootIdTest {
  private static final Path BOOT_ID = Path.of(Containment.BOOT_ID);

  private interface Use {
    void of(Provider provider, Sandbox sandbox) throws IOException;
  }

  private static void with(ProviderFactory factory, Map<String, String> settings, Use use)
      throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider =
            factory.create(
                new ProviderConfig(settings),
                new ProviderContext(
                    UniqueResources.instanceId("bootid"), data.path(), InstantSource.system()))) {
      Sandbox sandbox = provider.create(spec());
      try {
        use.of(provider, sandbox);
      } finally {
        provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      }
    }
  }

  private static SandboxSpec spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5))
        .build();
  }

  private static String output(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script)).stdout().text();
  }

  private static String bootId(Sandbox sandbox) {
    return output(sandbox, "cat " + BOOT_ID);
  }

  private static Prerequisite declared(Provider provider) {
    return provider.info().prerequisites().stream()
        .filter(one -> one.name().equals("boot ids"))
        .findFirst()
        .orElseThrow();
  }

  private static void requireOwnBootIds(Provider provider, Sandbox sandbox) throws IOException {
    String host = Files.readString(BOOT_ID);
    String first = bootId(sandbox);
    assertThat(first).isNotEqualTo(host).matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n");
    assertThat(declared(provider).present()).isTrue();
    Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
    pausing.pause(PauseKind.MEMORY);
    pausing.resume();
    assertThat(bootId(sandbox)).as("after a pause in memory").isEqualTo(first);
    pausing.pause(PauseKind.FILESYSTEM);
    pausing.resume();
    assertThat(bootId(sandbox)).as("after a reboot").isNotEqualTo(first).isNotEqualTo(host);
    Sandbox other = provider.create(spec());
    assertThat(bootId(other)).isNotEqualTo(bootId(sandbox)).isNotEqualTo(host);
    provider.destroy(other.id(), DestroyOptions.FORCE);
    assertThat(
            output(sandbox, "grep -c ' " + BOOT_ID + " ro,nosuid,nodev,noexec' /proc/1/mountinfo"))
        .isEqualTo("1\n");
    assertThat(
            output(
                sandbox,
                "(echo x > %1$s || umount %1$s || mount -o remount,rw %1$s) 2> /dev/null"
                        .formatted(BOOT_ID)
                    + " || echo denied"))
        .isEqualTo("denied\n");
    assertThat(Files.readString(BOOT_ID)).isEqualTo(host);
  }

  @Test
  void engineThatRemapsUsersHasOwnBootIds() throws IOException {
    with(
        new DockerProviderFactory(),
        Map.of("host", SharedEngine.host()),
        EngineBootIdTest::requireOwnBootIds);
  }

  @Test
  void engineWithoutUserNamespacesHasOwnBootIds() throws IOException {
    try (TestContainerEngine own = TestContainerEngine.docker(false)) {
      with(
          new DockerProviderFactory(),
          Map.of("host", own.host()),
          EngineBootIdTest::requireOwnBootIds);
    }
  }

  @Test
  void podmanHasOwnBootIds() throws IOException {
    SharedEngine.need(TestContainerEngine.Kind.PODMAN);
    try (TestContainerEngine podman = TestContainerEngine.podman()) {
      with(
          new PodmanProviderFactory(),
          Map.of("host", podman.host()),
          EngineBootIdTest::requireOwnBootIds);
    }
  }

  @Test
  void unreachableContainersShareTheBootIdOfTheKernel() throws IOException {
    with(
        new DockerProviderFactory(),
        Map.of("host", SharedEngine.host(), "channel", "exec"),
        (provider, sandbox) -> {
          assertThat(bootId(sandbox)).isEqualTo(Files.readString(BOOT_ID));
          assertThat(declared(provider).present()).isFalse();
        });
  }
}
