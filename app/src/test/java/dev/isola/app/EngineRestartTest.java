package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.Engine;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigInput;
import dev.isola.engine.config.ConfigInput.FlagValue;
import dev.isola.engine.config.ConfigReader;
import dev.isola.engine.config.MachineInfo;
import dev.isola.provider.docker.DockerProviderFactory;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A container engine is killed under running sandboxes; Isola's engine recovers. */
@Tag("all")
@Timeout(600)
class EngineRestartTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** Twenty in {@code ./check --long}. */
  private static final int SANDBOXES = Boolean.getBoolean("isola.long") ? 20 : 2;

  @BeforeEach
  void requireContainerEngine() {
    TestContainerEngine.Kind.DOCKER
        .missing()
        .ifPresent(why -> Assumptions.abort("NOT RUN: " + why));
  }

  /** Isola's engine with its ledger, on one container engine. */
  private record EngineFixture(
      Ledger ledger, ProviderRegistry registry, HealthMonitor health, Engine engine)
      implements AutoCloseable {
    static EngineFixture open(TemporaryFolder data, TestContainerEngine containers)
        throws IOException {
      Files.createDirectories(data.path().resolve("docker"));
      InstantSource clock = InstantSource.system();
      Log log = Log.ofPlatform();
      Config config =
          ConfigReader.read(
                  new ConfigInput(
                      new MachineInfo(64_000, 64, data.path()),
                      Optional.empty(),
                      Map.of(),
                      List.of(
                          new FlagValue("--set", "providers.docker.host", containers.host()),
                          new FlagValue("--set", "reconcile.interval", "1h"),
                          new FlagValue("--set", "shutdown", "leave")),
                      List.of("docker")))
              .orThrow();
      ProviderRegistry registry =
          ProviderRegistry.open(
              List.of(new DockerProviderFactory()),
              config.providers(),
              name ->
                  new ProviderContext(new InstanceId("restarts"), data.path().resolve(name), clock),
              clock,
              log);
      HealthMonitor health =
          HealthMonitor.start(
              registry.providers(), registry.unavailable(), config.probeSchedule(), clock, log);
      Ledger ledger = Ledgers.open(LedgerConfig.sqlite(data.path().resolve("ledger")));
      return new EngineFixture(
          ledger,
          registry,
          health,
          Engine.open(
              config, ledger, registry, health, Optional.empty(), Optional.empty(), clock, log));
    }

    List<SandboxId> create() {
      List<SandboxId> made = new ArrayList<>();
      for (int i = 0; i < SANDBOXES; i++) {
        SandboxSpec spec =
            SandboxSpec.builder(SandboxId.random(new SecureRandom()))
                .startupTimeout(TIMEOUT)
                .build();
        SandboxId id =
            engine
                .creator()
                .create(
                    SandboxRequest.of(
                        CreateRequest.of(spec, "docker").withTtl(Duration.ofMinutes(30))))
                .view()
                .id();
        engine.sandboxes().get(id).run(Command.shell("echo " + id + " > mine"));
        made.add(id);
      }
      return made;
    }

    SandboxState state(SandboxId id) {
      return engine.sandboxes().view(id).state();
    }

    @Override
    public void close() {
      engine.close();
      health.close();
      registry.close();
      ledger.close();
    }
  }

  private static void assertCommandRuns(EngineFixture fixture, SandboxId id) {
    assertThat(fixture.engine().sandboxes().get(id).run(Command.shell("cat mine")).stdout().text())
        .isEqualTo(id + "\n");
  }

  @Test
  void liveRestoreReattachesAllSandboxesAfterAnEngineRestart() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        TestContainerEngine containers = TestContainerEngine.docker(false, "--live-restore")) {
      List<SandboxId> all;
      try (EngineFixture fixture = EngineFixture.open(data, containers)) {
        all = fixture.create();
        List<Execution> running = new ArrayList<>();
        for (SandboxId id : all) {
          running.add(fixture.engine().sandboxes().get(id).start(Command.shell("sleep 1000")));
        }
        containers.killDaemon();
        all.forEach(
            id ->
                assertCommandRuns(
                    fixture, id)); // their sockets do not depend on the container engine
        containers.restartDaemon();
        for (int i = 0; i < all.size(); i++) {
          assertCommandRuns(fixture, all.get(i));
          assertThat(fixture.state(all.get(i))).isEqualTo(SandboxState.RUNNING);
          try (Execution waiting = running.get(i)) {
            assertThat(waiting.await(Duration.ofMillis(10))).isEmpty();
            waiting.kill();
          }
        }
        containers.killDaemon();
      }
      containers.restartDaemon();
      // The next server also finds them, from the ledger alone.
      try (EngineFixture fixture = EngineFixture.open(data, containers)) {
        for (SandboxId id : all) {
          assertCommandRuns(fixture, id);
          fixture.engine().sandboxes().destroy(id, DestroyOptions.FORCE);
          assertThat(fixture.state(id)).isEqualTo(SandboxState.DESTROYED);
        }
        assertThat(fixture.registry().get("docker").inventory()).isEmpty();
      }
    }
  }

  @Test
  void withoutLiveRestoreAllSandboxesAreLostWithACauseAndCleanedUp() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        TestContainerEngine containers = TestContainerEngine.docker(false);
        EngineFixture fixture = EngineFixture.open(data, containers)) {
      List<SandboxId> all = fixture.create();
      List<Sandbox> held = all.stream().map(fixture.engine().sandboxes()::get).toList();
      Execution waiting = held.getFirst().start(Command.shell("sleep 1000"));
      containers.killDaemon();
      assertThat(fixture.state(all.getFirst()))
          .as("the state is unchanged while the container engine is down")
          .isEqualTo(SandboxState.RUNNING);
      containers.restartDaemon();
      Awaitility.await("all are known to be lost, though the next look is an hour away")
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThat(all)
                      .allSatisfy(
                          id -> assertThat(fixture.state(id)).isEqualTo(SandboxState.DESTROYED)));
      for (SandboxId id : all) {
        assertThat(fixture.engine().sandboxes().view(id).cause().orElse(""))
            .startsWith("lost: its processes");
      }
      assertThat(waiting.await()).isInstanceOf(Exit.Lost.class);
      assertThatThrownBy(() -> held.getFirst().run(Command.argv("true"))).isInstanceOf(Gone.class);
      Awaitility.await("nothing is left")
          .atMost(TIMEOUT)
          .until(() -> fixture.registry().get("docker").inventory().isEmpty());
      assertThat(fixture.engine().reserved().reserved().memoryMb()).isZero();
    }
  }
}
