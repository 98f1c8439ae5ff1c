package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.ServiceLoader;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every provider does in the same way, through one interface. */
final class EveryProviderTest {
  static Stream<String> names() {
    return ServiceLoader.load(ProviderFactory.class).stream().map(each -> each.get().name());
  }

  /** Create, Destroy, Stop, Resume, Exec, ReadFile, WriteFile, Health and Capabilities. */
  @ParameterizedTest
  @MethodSource("names")
  @DisplayName("All providers implement the same interface")
  void allProvidersImplementTheSameInterface(String name) {
    ProviderFactory factory =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(each -> each.name().equals(name))
            .findFirst()
            .orElseThrow();
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-seed");
        Provider provider =
            factory.create(
                ProviderConfig.EMPTY,
                new ProviderContext(
                    new InstanceId(SandboxId.random(RandomGenerator.getDefault()).value()),
                    scratch.path(),
                    InstantSource.system()))) {
      assertThat(provider.info().name()).isEqualTo(name);
      assertThat(provider.info().isolation()).isNotNull();
      if (provider.health() instanceof Health.Unhealthy unhealthy) {
        abort("NOT RUN: " + name + " is unhealthy: " + unhealthy);
      }
      use(provider);
    }
  }

  private static void use(Provider provider) {
    Sandbox sandbox;
    try {
      sandbox =
          provider.create(
              SandboxSpec.builder(SandboxId.random(RandomGenerator.getDefault()))
                  .deadline(Duration.ofMinutes(5))
                  .build());
    } catch (SandboxException e) {
      // The worktree provider needs a repository and rejects a spec without one.
      assertThat(e.fault().code()).isEqualTo(ErrorCode.INVALID_SPEC);
      return;
    }
    try {
      assertThat(sandbox.run(Command.shell("echo works")).stdout().text()).isEqualTo("works\n");
      sandbox.files().writeText("note", "kept", UTF_8);
      sandbox
          .as(Pausing.class)
          .filter(one -> one.kinds().contains(Pausing.PauseKind.FILESYSTEM))
          .ifPresent(
              one -> {
                one.pause(Pausing.PauseKind.FILESYSTEM);
                assertThat(sandbox.state()).isEqualTo(SandboxState.STOPPED);
                one.resume();
              });
      assertThat(sandbox.files().readText("note", UTF_8, 100)).isEqualTo("kept");
    } finally {
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
    assertThat(provider.inventory()).isEqualTo(List.of());
  }
}
