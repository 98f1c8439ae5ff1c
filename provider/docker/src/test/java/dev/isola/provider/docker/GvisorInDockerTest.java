package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.host.launch.HostProgram;
import dev.isola.spi.Destroy;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.Scratch;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * gVisor as a runtime of the engine, and runtimes that are not what they are called: those are
 * refused, and nothing of them is left.
 */
@Timeout(120)
@ExtendWith(SharedEngine.class)
class GvisorInDockerTest {
  @BeforeEach
  void needsGvisor() {
    if (HostProgram.find("runsc").isEmpty()) {
      Assumptions.abort("NOT RUN: runsc is not installed");
    }
  }

  private static Provider provider(ProviderFactory factory, Scratch data, String runtime) {
    return factory.create(
        new ProviderConfig(Map.of("host", SharedEngine.host(), "runtime", runtime)),
        new ProviderContext(new InstanceId("gvisor"), data.path(), InstantSource.system()));
  }

  private static SandboxSpec spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .ttl(Duration.ofMinutes(5))
        .build();
  }

  @Test
  void aSandboxHasGvisorsKernel() {
    try (Scratch data = Scratch.make("isola-");
        Provider provider = provider(new DockerGvisorProviderFactory(), data, "runsc")) {
      assertThat(provider.health().healthy()).as(provider.health().toString()).isTrue();
      assertThat(provider.info().isolation()).isEqualTo(Isolation.KERNEL);
      Sandbox sandbox = provider.create(spec());
      assertThat(sandbox.run(Command.shell("cat /proc/version")).stdout().text())
          .startsWith("Linux version 4.4.0 ");
      assertThat(sandbox.run(Command.shell("echo hello > f; cat f")).stdout().text())
          .isEqualTo("hello\n");
      try (Provider another = provider(new DockerGvisorProviderFactory(), data, "runsc")) {
        assertThat(another.attach(sandbox.id()).orElseThrow().run(Command.shell("cat f")).stdout())
            .satisfies(out -> assertThat(out.text()).isEqualTo("hello\n"));
      }
      Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
      pausing.pause(Pausing.PauseKind.FILESYSTEM);
      pausing.resume();
      assertThat(sandbox.run(Command.shell("cat f")).stdout().text()).isEqualTo("hello\n");
      provider.destroy(sandbox.id(), Destroy.FORCE);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void aRuntimeThatIsOnlyCalledSoIsRefused() {
    try (Scratch data = Scratch.make("isola-");
        Provider provider = provider(new DockerGvisorProviderFactory(), data, "liar")) {
      assertThat(provider.health().healthy()).as("by its name it is there").isTrue();
      assertThatThrownBy(() -> provider.create(spec()))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("not isolated as docker-gvisor promises");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void theHostsKernelIsNotTakenForAVirtualMachines() {
    try (Scratch data = Scratch.make("isola-");
        Provider provider = provider(new KataProviderFactory(), data, "liar")) {
      assertThatThrownBy(() -> provider.create(spec()))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("not isolated as kata promises");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  /**
   * There is no KVM for Kata in most builds; another runtime with a kernel of its own stands in.
   */
  @Test
  void kataTakesARuntimeWhoseKernelIsNotTheHosts() {
    try (Scratch data = Scratch.make("isola-");
        Provider provider = provider(new KataProviderFactory(), data, "runsc")) {
      ResourceLimits roomy = ResourceLimits.DEFAULT.withProcesses(10_000);
      Sandbox sandbox = provider.create(spec().toBuilder().limits(roomy).build());
      assertThat(sandbox.run(Command.shell("echo in")).stdout().text()).isEqualTo("in\n");
      provider.destroy(sandbox.id(), Destroy.FORCE);
    }
  }
}
