package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.time.Deadline;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Sandboxes whose engine restarts or is used by other programs. EngineRestartTest of app covers
 * more of them, and engines that restore containers.
 */
@Timeout(180)
@ExtendWith(SharedEngine.class)
class EngineLifecycleTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static Provider provider(TestContainerEngine engine, TemporaryFolder data) {
    return provider(engine.host(), data);
  }

  private static Provider provider(String host, TemporaryFolder data) {
    return new DockerProviderFactory()
        .create(
            new ProviderConfig(Map.of("host", host)),
            new ProviderContext(
                UniqueResources.instanceId("life"), data.path(), InstantSource.system()));
  }

  private static SandboxSpec spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5))
        .build();
  }

  @Test
  void externallyRemovedContainerIsNoticedAtOnce() {
    try (EngineApi client = SharedEngine.client();
        TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(SharedEngine.host(), data)) {
      Sandbox sandbox = provider.create(spec());
      Sandbox other = provider.create(spec());
      Execution waiting = sandbox.start(Command.shell("sleep 1000"));
      String container = container(provider, sandbox.id());
      client.remove(container, Deadline.in(TIMEOUT));
      Awaitility.await("the sandbox is reported as gone")
          .atMost(TIMEOUT)
          .until(() -> sandbox.state() == SandboxState.DESTROYED);
      assertThat(waiting.await()).isInstanceOf(Exit.Lost.class);
      assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
      assertThat(provider.attach(sandbox.id())).isEmpty();
      assertThat(provider.inventory())
          .as("its folder remains in the inventory")
          .anyMatch(seen -> seen.id().equals(sandbox.id()) && seen.state() == SandboxState.ERROR);
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      assertThat(provider.inventory()).extracting(InventoryItem::id).containsExactly(other.id());
      assertThat(other.run(Command.shell("echo fine")).stdout().text()).isEqualTo("fine\n");
      provider.destroy(other.id(), DestroyOptions.FORCE);
    }
  }

  @Test
  void engineRestartEndsItsSandboxes() throws IOException {
    try (TestContainerEngine own = TestContainerEngine.docker(false);
        TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(own, data)) {
      Sandbox sandbox = provider.create(spec());
      own.stopDaemon();
      Awaitility.await("health check reports the engine")
          .atMost(TIMEOUT)
          .until(() -> !provider.health().healthy());
      assertThatThrownBy(() -> provider.create(spec())).isInstanceOf(ProviderUnavailable.class);
      assertThatThrownBy(provider::inventory).isInstanceOf(ProviderUnavailable.class);
      own.restartDaemon();
      Awaitility.await("it is healthy again")
          .atMost(TIMEOUT)
          .until(() -> provider.health().healthy());
      assertThat(provider.attach(sandbox.id())).isEmpty();
      assertThatThrownBy(() -> sandbox.run(Command.argv("true"))).isInstanceOf(Gone.class);
      provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
      Sandbox next = provider.create(spec());
      assertThat(next.run(Command.argv("true")).succeeded()).isTrue();
      provider.destroy(next.id(), DestroyOptions.NORMAL);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void testEngineLeavesNothing() {
    TestContainerEngine own = TestContainerEngine.docker(false);
    assertThat(own.leftovers()).as("the control: while it runs it is seen").isNotEmpty();
    own.close();
    assertThat(own.leftovers()).isEmpty();
  }

  private static String container(Provider provider, SandboxId id) {
    return provider.inventory().stream()
        .filter(seen -> seen.id().equals(id))
        .map(seen -> String.valueOf(seen.details().get("container")))
        .findFirst()
        .orElseThrow();
  }
}
