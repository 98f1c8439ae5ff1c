package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.program.GvisorRelease;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * gVisor as a runtime of the engine, and runtimes with a wrong name, which are refused without
 * leaving anything.
 */
@Timeout(120)
@ExtendWith(SharedEngine.class)
class GvisorInDockerTest {
  /** Providers of one test attach to the sandboxes of each other. */
  private static final InstanceId INSTANCE = UniqueResources.instanceId("gvisor");

  @BeforeEach
  void needsGvisor() {
    if (HostProgram.find("runsc").isEmpty()) {
      Assumptions.abort("NOT RUN: runsc is not installed");
    }
  }

  private static Provider provider(ProviderFactory factory, TemporaryFolder data, String runtime) {
    return factory.create(
        new ProviderConfig(Map.of("host", SharedEngine.host(), "runtime", runtime)),
        new ProviderContext(INSTANCE, data.path(), InstantSource.system()));
  }

  private static SandboxSpec spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5))
        .build();
  }

  @Test
  void sandboxHasGvisorsKernel() {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(new DockerGvisorProviderFactory(), data, "runsc")) {
      assertThat(provider.health().usable()).as(provider.health().toString()).isTrue();
      assertThat(provider.info().isolation()).isEqualTo(Isolation.KERNEL);
      Sandbox sandbox = provider.create(spec());
      assertThat(sandbox.run(Command.shell("cat /proc/version")).stdout().text())
          .satisfies(
              said ->
                  assertThat(
                          GvisorRelease.isKernel(
                              said.strip(), Files.readString(Path.of("/proc/version"))))
                      .as(said)
                      .isTrue());
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
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void runtimeWithTheNameOnlyIsRefused() {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(new DockerGvisorProviderFactory(), data, "liar")) {
      assertThat(provider.health().usable()).as("registered under the name").isTrue();
      assertThatThrownBy(() -> provider.create(spec()))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("not isolated as docker-gvisor promises");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  /** Neither the host's kernel nor a user-space kernel is accepted as a virtual machine. */
  @Test
  void otherRuntimesAreNotAcceptedAsKata() {
    for (String runtime : List.of("liar", "runsc")) {
      try (TemporaryFolder data = TemporaryFolder.create("isola-");
          Provider provider = provider(new KataProviderFactory(), data, runtime)) {
        assertThat(provider.health())
            .isInstanceOfSatisfying(
                Health.Unhealthy.class,
                ill -> assertThat(ill.reason()).contains("not known to be kata"));
        assertThat(provider.info().prerequisites())
            .anyMatch(need -> need.necessary() && !need.present());
        assertThatThrownBy(() -> provider.create(spec()))
            .isInstanceOf(ProviderUnavailable.class)
            .hasMessageContaining("not known to be kata");
        assertThat(provider.inventory()).isEmpty();
      }
    }
  }

  /** Programs that only have Kata's name are detected by the guest kernel. */
  @Test
  void programNamedKataIsRefused() {
    for (String runtime : List.of("liar", "runsc")) {
      try (TemporaryFolder data = TemporaryFolder.create("isola-");
          Provider provider =
              provider(kata(EngineVariant.ExpectedKernel.VIRTUAL_MACHINE), data, runtime)) {
        assertThat(provider.health().healthy()).as("registered under the name").isTrue();
        assertThatThrownBy(() -> provider.create(roomy()))
            .isInstanceOf(ProviderUnavailable.class)
            .hasMessageContaining("not isolated as kata promises");
        assertThat(provider.inventory()).isEmpty();
      }
    }
  }

  /** gVisor needs threads for itself, for which Kata's limits have no room. */
  private static SandboxSpec roomy() {
    return spec().toBuilder().limits(ResourceLimits.DEFAULT.withProcesses(10_000)).build();
  }

  /** Returns a {@code kata} variant that accepts any program, which no setting allows. */
  private static EngineVariant kata(EngineVariant.ExpectedKernel guest) {
    return new EngineVariant(
        EngineVariant.KATA.name(),
        EngineVariant.KATA.summary(),
        EngineVariant.KATA.isolation(),
        EngineVariant.KATA.engine(),
        guest,
        EngineVariant.KATA.runtimes(),
        Pattern.compile(".*"),
        EngineVariant.KATA.startup());
  }

  private static Provider provider(EngineVariant variant, TemporaryFolder data, String runtime) {
    return EngineProviders.of(
        variant,
        new ProviderConfig(Map.of("host", SharedEngine.host(), "runtime", runtime)),
        new ProviderContext(INSTANCE, data.path(), InstantSource.system()));
  }

  /** Most builds have no KVM for Kata, so gVisor substitutes for it through a special variant. */
  @Test
  void kataProviderWorksWithASubstituteRuntime() {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(kata(EngineVariant.ExpectedKernel.GVISOR), data, "runsc")) {
      Sandbox sandbox = provider.create(roomy());
      assertThat(sandbox.run(Command.shell("echo in")).stdout().text()).isEqualTo("in\n");
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
  }
}
