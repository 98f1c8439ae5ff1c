package dev.isola.engine;

import static dev.isola.engine.FakeHouse.MCP_SERVER;
import static dev.isola.engine.FakeHouse.SPEC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.Admission;
import dev.isola.engine.admission.Grant;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.Standing;
import dev.isola.engine.health.HealthMonitor;
import dev.isola.engine.health.Rhythm;
import dev.isola.engine.placing.Attempt;
import dev.isola.engine.placing.PlacementResult;
import dev.isola.engine.registry.Registry;
import dev.isola.engine.selection.Policy;
import dev.isola.engine.selection.Selector;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.testing.provider.TestProviderFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scenarios of seed 001 about selection, fallback, health and type routing, by their names. */
class Seed001Test {
  @TempDir Path folder;

  private static final String[] ALL = {
    "subprocess", "proot", "bubblewrap", "runc", "crun", "docker", "gvisor", "firecracker"
  };

  @Test
  @DisplayName("Provider capabilities reporting")
  void providerCapabilitiesReporting() {
    FakeClock clock = new FakeClock();
    try (Registry registry =
        Registry.open(
            List.of(new TestProviderFactory()),
            Map.of(),
            name -> new ProviderContext(new InstanceId("test"), folder, clock),
            clock,
            new FakeLog())) {
      ProviderInfo info = registry.get("test").info();
      assertThat(info.capabilities()).contains(Pausing.class);
      assertThat(info.requirements()).isNotEmpty().noneMatch(Prerequisite::necessary);
      assertThat(info.startup()).isPositive();
    }
    Admission admission = new Admission(Resources.of(4, 4096), Duration.ZERO, clock);
    try (Grant _ = admission.admit("p", Resources.of(SPEC.limits()))) {
      assertThat(admission.usage().free()).isEqualTo(Resources.of(3, 3072));
    }
  }

  @Test
  @DisplayName("Self-hosted deployment with KVM available")
  void selfHostedDeploymentWithKvmAvailable() {
    FakeHouse house = FakeHouse.selfHosted(ALL);
    assertThat(house.select(CreateRequest.of(SPEC, "auto")).names())
        .startsWith("firecracker", "gvisor", "bubblewrap", "crun", "runc", "docker");
  }

  @Test
  @DisplayName("Self-hosted deployment without KVM")
  void selfHostedDeploymentWithoutKvm() {
    FakeHouse house = FakeHouse.selfHosted(ALL);
    house.get("firecracker").ill("KVM is not available");
    assertThat(house.select(CreateRequest.of(SPEC, "auto")).names()).startsWith("gvisor");
    assertThat(house.select(CreateRequest.auto(SPEC)).rejection("firecracker"))
        .hasValueSatisfying(one -> assertThat(one.reason()).isEqualTo("KVM is not available"));
  }

  @Test
  @DisplayName("Managed deployment with E2B configured")
  void managedDeploymentWithE2bConfigured() {
    FakeHouse house = FakeHouse.managed(true, "firecracker", "gvisor", "e2b");
    assertThat(house.select(CreateRequest.of(SPEC, "auto")).names())
        .containsExactly("e2b", "firecracker", "gvisor");
  }

  @Test
  @DisplayName("Managed deployment without E2B")
  void managedDeploymentWithoutE2b() {
    FakeHouse house = FakeHouse.managed(false, "e2b", "gvisor", "firecracker");
    assertThat(house.select(CreateRequest.of(SPEC, "auto")).names())
        .containsExactly("firecracker", "gvisor");
    house.get("firecracker").ill("KVM is not available");
    assertThat(house.select(CreateRequest.auto(SPEC)).names()).containsExactly("gvisor");
    assertThat(house.select(CreateRequest.auto(SPEC)).rejection("e2b"))
        .hasValueSatisfying(one -> assertThat(one.fix()).isEqualTo("set E2B_API_KEY"));
  }

  @Test
  @DisplayName("No provider specified defaults to auto")
  void noProviderSpecifiedDefaultsToAuto() {
    FakeHouse house = FakeHouse.selfHosted(ALL);
    assertThat(house.select(CreateRequest.of(SPEC, "")))
        .isEqualTo(house.select(CreateRequest.of(SPEC, "auto")))
        .isEqualTo(house.select(CreateRequest.auto(SPEC)));
  }

  @Test
  @DisplayName("Firecracker fails, falls back to gVisor")
  void firecrackerFailsFallsBackToGvisor() {
    FakeHouse house = FakeHouse.selfHosted("firecracker", "gvisor");
    house.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    PlacementResult placement = house.place(CreateRequest.auto(SPEC));
    assertThat(placement.provider().name()).isEqualTo("gvisor");
    assertThat(placement.provider().isolation()).isEqualTo(Isolation.KERNEL);
    assertThat(placement.attempts())
        .containsExactly(
            new Attempt(
                "firecracker", ErrorCode.SPAWN_FAILED, "KVM said no", house.clock.instant()));
    assertThat(house.log.warnings)
        .containsExactly(
            "provider firecracker could not make a sandbox: KVM said no; trying the next");
  }

  @Test
  @DisplayName("E2B fails, falls back to Firecracker then gVisor")
  void e2bFailsFallsBackToFirecrackerThenGvisor() {
    FakeHouse house = FakeHouse.managed(true, "gvisor", "firecracker", "e2b");
    house.get("e2b").failing(ErrorCode.RESOURCE_LIMIT, "quota exceeded");
    assertThat(house.place(CreateRequest.auto(SPEC)).provider().name()).isEqualTo("firecracker");

    house.get("firecracker").failing(ErrorCode.PROVIDER_UNAVAILABLE, "no tap device");
    PlacementResult placement = house.place(CreateRequest.auto(SPEC));
    assertThat(placement.provider().name()).isEqualTo("gvisor");
    assertThat(placement.attempts())
        .extracting(Attempt::provider)
        .containsExactly("e2b", "firecracker");
    assertThat(house.log.warnings).hasSize(3);

    house.get("firecracker").ill("KVM is not available");
    assertThat(house.place(CreateRequest.auto(SPEC)).attempts())
        .extracting(Attempt::provider)
        .containsExactly("e2b");
  }

  @Test
  @DisplayName("Explicit provider request does NOT fallback")
  void explicitProviderRequestDoesNotFallback() {
    FakeHouse house = FakeHouse.selfHosted("firecracker", "gvisor");
    house.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    assertThatThrownBy(() -> house.place(CreateRequest.of(SPEC, "firecracker")))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessage("KVM said no; mend firecracker");
    assertThat(house.get("gvisor").created).hasValue(0);

    house.get("firecracker").ill("KVM is not available");
    assertThatThrownBy(() -> house.place(CreateRequest.of(SPEC, "firecracker")))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("firecracker: KVM is not available")
        .hasMessageContaining("mend firecracker");
    assertThat(house.get("gvisor").created).hasValue(0);
  }

  @Test
  @DisplayName("All providers fail")
  void allProvidersFail() {
    FakeHouse house = FakeHouse.selfHosted("firecracker", "gvisor", "docker", "subprocess");
    house.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    house.get("gvisor").failing(ErrorCode.DEADLINE_EXCEEDED, "it took too long");
    house.get("docker").ill("no daemon");
    assertThatThrownBy(() -> house.place(CreateRequest.auto(SPEC)))
        .isInstanceOfSatisfying(
            ProviderUnavailable.class,
            e ->
                assertThat(e.context())
                    .containsEntry("provider.firecracker", "KVM said no")
                    .containsEntry("provider.gvisor", "it took too long")
                    .containsEntry("provider.docker", "no daemon")
                    .containsKey("provider.subprocess"))
        .hasMessageContainingAll(
            "firecracker: KVM said no",
            "gvisor: it took too long",
            "docker: no daemon",
            "subprocess: isolation process is weaker than container",
            "for docker: mend docker",
            "mend gvisor");
  }

  @Test
  @DisplayName("Healthy provider is preferred")
  void healthyProviderIsPreferred() {
    FakeHouse house = FakeHouse.selfHosted(ALL);
    house.get("firecracker").ill("KVM is not available");
    house.get("gvisor").ill("no runsc");
    house.get("docker").ill("no daemon");
    assertThat(house.select(CreateRequest.auto(SPEC)).names())
        .containsExactly("bubblewrap", "crun", "runc");
  }

  @Test
  @DisplayName("Provider health check frequency")
  void providerHealthCheckFrequency() {
    FakeProvider provider = new FakeProvider("gvisor");
    List<Duration> pauses = new CopyOnWriteArrayList<>();
    Semaphore turns = new Semaphore(0);
    FakeClock clock = new FakeClock();
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.<String, Provider>of("gvisor", provider),
            List.of(),
            Rhythm.DEFAULT,
            clock,
            RandomGenerator.getDefault(),
            time -> {
              pauses.add(time);
              turns.acquire();
              clock.pass(time);
            },
            new FakeLog())) {
      assertThat(monitor.settled()).containsExactly(provider.standing(clock));
      for (int round = 2; round <= 20; round++) {
        turns.release();
        int expected = round;
        await().until(() -> provider.asked.get() == expected && pauses.size() == expected);
      }
      assertThat(pauses).allSatisfy(one -> assertThat(one).isBetween(seconds(27), seconds(33)));
      assertThat(pauses).doesNotHaveDuplicates();
      int asked = provider.asked.get();
      for (int i = 0; i < 1000; i++) {
        assertThat(monitor.current()).hasSize(1);
      }
      assertThat(provider.asked).as("what is cached is not asked for").hasValue(asked);
      assertThat(monitor.current().getFirst().at()).isEqualTo(clock.instant());
    }
  }

  private static Duration seconds(long count) {
    return Duration.ofSeconds(count);
  }

  @Test
  @DisplayName("Provider becomes unhealthy")
  void providerBecomesUnhealthy() {
    FakeProvider firecracker = new FakeProvider("firecracker");
    FakeProvider gvisor = new FakeProvider("gvisor");
    FakeLog log = new FakeLog();
    Selector selector = new Selector(Policy.DEFAULT, Map.of());
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.of("firecracker", firecracker, "gvisor", gvisor),
            List.of(),
            new Rhythm(Duration.ofMillis(5), Duration.ofSeconds(5)),
            new FakeClock(),
            log)) {
      assertThat(selector.select(CreateRequest.auto(SPEC), monitor.settled()).names())
          .containsExactly("firecracker", "gvisor");

      firecracker.ill("manager unreachable");
      await()
          .untilAsserted(
              () ->
                  assertThat(selector.select(CreateRequest.auto(SPEC), monitor.current()).names())
                      .containsExactly("gvisor"));
      int asked = firecracker.asked.get();
      await().until(() -> firecracker.asked.get() > asked + 5);
      assertThat(log.warnings)
          .as("said once, however often it is found out")
          .containsExactly(
              "provider firecracker is unhealthy and not chosen any more: manager unreachable;"
                  + " mend firecracker");

      firecracker.health = new Health.Healthy("back");
      await()
          .untilAsserted(
              () ->
                  assertThat(selector.select(CreateRequest.auto(SPEC), monitor.current()).names())
                      .containsExactly("firecracker", "gvisor"));
      assertThat(log.infos).containsExactly("provider firecracker is healthy again");
    }
  }

  @Test
  @DisplayName("Health status API")
  void healthStatusApi() {
    FakeProvider ill = new FakeProvider("firecracker").ill("no KVM");
    FakeClock clock = new FakeClock();
    Standing broken = Standing.absent("docker", "could not be made", "mend it", clock.instant());
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.of("firecracker", ill, "gvisor", new FakeProvider("gvisor")),
            List.of(broken),
            Rhythm.DEFAULT,
            clock,
            new FakeLog())) {
      assertThat(monitor.settled())
          .as("what the route needs: name, status, time of the last check")
          .extracting(Standing::name, Standing::healthy, Standing::at)
          .containsExactly(
              tuple("docker", false, clock.instant()),
              tuple("firecracker", false, clock.instant()),
              tuple("gvisor", true, clock.instant()));
    }
  }

  @Test
  @DisplayName("Agent workspace defaults to Firecracker")
  void agentWorkspaceDefaultsToFirecracker() {
    assertThat(FakeHouse.selfHosted(ALL).select(CreateRequest.auto(SPEC)).names())
        .startsWith("firecracker", "gvisor");
  }

  @Test
  @DisplayName("MCP server defaults to gVisor")
  void mcpServerDefaultsToGvisor() {
    FakeHouse house = FakeHouse.selfHosted(ALL);
    assertThat(house.select(MCP_SERVER).names()).startsWith("gvisor", "firecracker", "bubblewrap");
    house.get("gvisor").ill("no runsc");
    assertThat(house.select(MCP_SERVER).names()).startsWith("firecracker");
  }

  /** The scenario of seed 003 that belongs to them. */
  @Test
  @DisplayName("Explicit local_microvm falls back to E2B, unless told not to")
  void explicitLocalMicrovmFallsBackToE2b() {
    FakeHouse house = FakeHouse.selfHosted("microvmctl", "e2b", "gvisor");
    house.get("microvmctl").failing(ErrorCode.SPAWN_FAILED, "no worker");
    house.get("e2b").ill("has no API key");
    CreateRequest request = CreateRequest.of(SPEC, ProviderNames.plain("local_microvm"));
    assertThatThrownBy(() -> house.place(request)).isInstanceOf(SandboxException.class);
    assertThat(house.get("e2b").created).as("without a key").hasValue(0);

    house.get("e2b").health = new Health.Healthy("has a key");
    FakeHouse keyed =
        new FakeHouse(policy(true), "gvisor").add(house.get("microvmctl")).add(house.get("e2b"));
    assertThat(keyed.place(request).provider().name()).isEqualTo("e2b");
    assertThat(keyed.place(request).attempts())
        .extracting(Attempt::provider)
        .containsExactly("microvmctl");
    assertThat(keyed.select(request.strict()).names()).containsExactly("microvmctl");
    assertThatThrownBy(() -> keyed.place(request.strict())).hasMessageContaining("no worker");

    FakeHouse turnedOff = new FakeHouse(policy(false), "e2b", "microvmctl");
    assertThat(turnedOff.select(request).names()).containsExactly("microvmctl");

    house.get("microvmctl").ill("no CLI");
    assertThat(keyed.select(request).names()).as("it would fail").containsExactly("e2b");
    assertThat(keyed.select(CreateRequest.of(SPEC, ProviderNames.plain("remote_e2b"))).names())
        .containsExactly("e2b");
  }

  private static Policy policy(boolean fallback) {
    return new Policy(Policy.DEFAULT.mode(), Isolation.CONTAINER, false, fallback);
  }
}
