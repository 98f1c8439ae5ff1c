package dev.isola.engine;

import static dev.isola.engine.PlacementFixture.MCP_SERVER;
import static dev.isola.engine.PlacementFixture.SPEC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.Reservation;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.api.health.HealthMonitor;
import dev.isola.engine.api.health.ProbeSchedule;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.placement.ProviderAttempt;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
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

/**
 * Scenarios of selection, fallback, health and workload routing, by name. Every provider is a fake:
 * the tests show what the engine chooses, not that a backend works.
 */
class SelectionWithFakeProvidersTest {
  @TempDir Path folder;

  private static final String[] ALL = {
    "subprocess", "proot", "bubblewrap", "runc", "crun", "docker", "gvisor", "firecracker"
  };

  @Test
  @DisplayName("Provider capabilities reporting")
  void providerCapabilitiesReporting() {
    FakeClock clock = new FakeClock();
    try (ProviderRegistry registry =
        ProviderRegistry.open(
            List.of(new TestProviderFactory()),
            Map.of(),
            name -> new ProviderContext(new InstanceId("test"), folder, clock),
            clock,
            new FakeLog())) {
      ProviderInfo info = registry.get("test").info();
      assertThat(info.capabilities()).contains(Pausing.class);
      assertThat(info.prerequisites()).isNotEmpty().noneMatch(Prerequisite::necessary);
      assertThat(info.startup()).isPositive();
    }
    CapacityPool admission = new CapacityPool(Resources.of(4, 4096), Duration.ZERO, clock);
    try (Reservation _ = admission.admit("p", Resources.of(SPEC.limits()))) {
      assertThat(admission.usage().free()).isEqualTo(Resources.of(3, 3072));
    }
  }

  @Test
  @DisplayName("Self-hosted deployment with KVM available")
  void selfHostedDeploymentWithKvmAvailable() {
    PlacementFixture fixture = PlacementFixture.selfHosted(ALL);
    assertThat(fixture.select(CreateRequest.of(SPEC, "auto")).names())
        .startsWith("firecracker", "gvisor", "bubblewrap", "crun", "runc", "docker");
  }

  @Test
  @DisplayName("Self-hosted deployment without KVM")
  void selfHostedDeploymentWithoutKvm() {
    PlacementFixture fixture = PlacementFixture.selfHosted(ALL);
    fixture.get("firecracker").ill("KVM is not available");
    assertThat(fixture.select(CreateRequest.of(SPEC, "auto")).names()).startsWith("gvisor");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).rejection("firecracker"))
        .hasValueSatisfying(one -> assertThat(one.reason()).isEqualTo("KVM is not available"));
  }

  @Test
  @DisplayName("Managed deployment with E2B configured")
  void managedDeploymentWithE2bConfigured() {
    PlacementFixture fixture = PlacementFixture.managed(true, "firecracker", "gvisor", "e2b");
    assertThat(fixture.select(CreateRequest.of(SPEC, "auto")).names())
        .containsExactly("e2b", "firecracker", "gvisor");
  }

  @Test
  @DisplayName("Managed deployment without E2B")
  void managedDeploymentWithoutE2b() {
    PlacementFixture fixture = PlacementFixture.managed(false, "e2b", "gvisor", "firecracker");
    assertThat(fixture.select(CreateRequest.of(SPEC, "auto")).names())
        .containsExactly("firecracker", "gvisor");
    fixture.get("firecracker").ill("KVM is not available");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names()).containsExactly("gvisor");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).rejection("e2b"))
        .hasValueSatisfying(one -> assertThat(one.fix()).isEqualTo("set E2B_API_KEY"));
  }

  @Test
  @DisplayName("No provider specified defaults to auto")
  void noProviderSpecifiedDefaultsToAuto() {
    PlacementFixture fixture = PlacementFixture.selfHosted(ALL);
    assertThat(fixture.select(CreateRequest.of(SPEC, "")))
        .isEqualTo(fixture.select(CreateRequest.of(SPEC, "auto")))
        .isEqualTo(fixture.select(CreateRequest.auto(SPEC)));
  }

  @Test
  @DisplayName("Firecracker fails, falls back to gVisor")
  void firecrackerFailsFallsBackToGvisor() {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    PlacementFixture.Placed placement = fixture.place(CreateRequest.auto(SPEC));
    assertThat(placement.provider().name()).isEqualTo("gvisor");
    assertThat(placement.provider().isolation()).isEqualTo(Isolation.KERNEL);
    assertThat(placement.attempts())
        .containsExactly(
            new ProviderAttempt(
                "firecracker", ErrorCode.SPAWN_FAILED, "KVM said no", fixture.clock.instant()));
    assertThat(fixture.log.warnings)
        .containsExactly(
            "provider firecracker could not create a sandbox: KVM said no; trying the next"
                + " provider");
  }

  @Test
  @DisplayName("E2B fails, falls back to Firecracker then gVisor")
  void e2bFailsFallsBackToFirecrackerThenGvisor() {
    PlacementFixture fixture = PlacementFixture.managed(true, "gvisor", "firecracker", "e2b");
    fixture.get("e2b").failing(ErrorCode.RESOURCE_LIMIT, "quota exceeded");
    assertThat(fixture.place(CreateRequest.auto(SPEC)).provider().name()).isEqualTo("firecracker");

    fixture.get("firecracker").failing(ErrorCode.PROVIDER_UNAVAILABLE, "no tap device");
    PlacementFixture.Placed placement = fixture.place(CreateRequest.auto(SPEC));
    assertThat(placement.provider().name()).isEqualTo("gvisor");
    assertThat(placement.attempts())
        .extracting(ProviderAttempt::provider)
        .containsExactly("e2b", "firecracker");
    assertThat(fixture.log.warnings).hasSize(3);

    fixture.get("firecracker").ill("KVM is not available");
    assertThat(fixture.place(CreateRequest.auto(SPEC)).attempts())
        .extracting(ProviderAttempt::provider)
        .containsExactly("e2b");
  }

  @Test
  @DisplayName("Explicit provider request does NOT fallback")
  void explicitProviderRequestDoesNotFallback() {
    PlacementFixture fixture = PlacementFixture.selfHosted("firecracker", "gvisor");
    fixture.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    assertThatThrownBy(() -> fixture.place(CreateRequest.of(SPEC, "firecracker")))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessage("KVM said no; mend firecracker");
    assertThat(fixture.get("gvisor").created).hasValue(0);

    fixture.get("firecracker").ill("KVM is not available");
    assertThatThrownBy(() -> fixture.place(CreateRequest.of(SPEC, "firecracker")))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("firecracker: KVM is not available")
        .hasMessageContaining("mend firecracker");
    assertThat(fixture.get("gvisor").created).hasValue(0);
  }

  @Test
  @DisplayName("All providers fail")
  void allProvidersFail() {
    PlacementFixture fixture =
        PlacementFixture.selfHosted("firecracker", "gvisor", "docker", "subprocess");
    fixture.get("firecracker").failing(ErrorCode.SPAWN_FAILED, "KVM said no");
    fixture.get("gvisor").failing(ErrorCode.DEADLINE_EXCEEDED, "it took too long");
    fixture.get("docker").ill("no daemon");
    assertThatThrownBy(() -> fixture.place(CreateRequest.auto(SPEC)))
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
    PlacementFixture fixture = PlacementFixture.selfHosted(ALL);
    fixture.get("firecracker").ill("KVM is not available");
    fixture.get("gvisor").ill("no runsc");
    fixture.get("docker").ill("no daemon");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
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
            ProbeSchedule.DEFAULT,
            clock,
            RandomGenerator.getDefault(),
            time -> {
              pauses.add(time);
              turns.acquire();
              clock.pass(time);
            },
            new FakeLog())) {
      assertThat(monitor.awaitFirstProbes()).containsExactly(provider.status(clock));
      for (int round = 2; round <= 20; round++) {
        turns.release();
        int expected = round;
        await().until(() -> provider.requested.get() == expected && pauses.size() == expected);
      }
      assertThat(pauses).allSatisfy(one -> assertThat(one).isBetween(seconds(27), seconds(33)));
      assertThat(pauses).doesNotHaveDuplicates();
      int requested = provider.requested.get();
      for (int i = 0; i < 1000; i++) {
        assertThat(monitor.current()).hasSize(1);
      }
      assertThat(provider.requested).as("cached results cause no probe").hasValue(requested);
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
    ProviderSelector selector = new ProviderSelector(SelectionPolicy.DEFAULT, Map.of());
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.of("firecracker", firecracker, "gvisor", gvisor),
            List.of(),
            new ProbeSchedule(Duration.ofMillis(5), Duration.ofSeconds(5)),
            new FakeClock(),
            log)) {
      assertThat(selector.select(CreateRequest.auto(SPEC), monitor.awaitFirstProbes()).names())
          .containsExactly("firecracker", "gvisor");

      firecracker.ill("manager unreachable");
      await()
          .untilAsserted(
              () ->
                  assertThat(selector.select(CreateRequest.auto(SPEC), monitor.current()).names())
                      .containsExactly("gvisor"));
      int requested = firecracker.requested.get();
      await().until(() -> firecracker.requested.get() > requested + 5);
      assertThat(log.warnings)
          .as("logged once")
          .containsExactly(
              "provider firecracker is unhealthy and will not be chosen: manager unreachable;"
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
    ProviderStatus broken =
        ProviderStatus.unavailable("docker", "could not be created", "repair it", clock.instant());
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.of("firecracker", ill, "gvisor", new FakeProvider("gvisor")),
            List.of(broken),
            ProbeSchedule.DEFAULT,
            clock,
            new FakeLog())) {
      assertThat(monitor.awaitFirstProbes())
          .as("name, status and time of the last check")
          .extracting(ProviderStatus::name, ProviderStatus::healthy, ProviderStatus::at)
          .containsExactly(
              tuple("docker", false, clock.instant()),
              tuple("firecracker", false, clock.instant()),
              tuple("gvisor", true, clock.instant()));
    }
  }

  @Test
  @DisplayName("Agent workspace defaults to Firecracker")
  void agentWorkspaceDefaultsToFirecracker() {
    assertThat(PlacementFixture.selfHosted(ALL).select(CreateRequest.auto(SPEC)).names())
        .startsWith("firecracker", "gvisor");
  }

  @Test
  @DisplayName("MCP server defaults to gVisor")
  void mcpServerDefaultsToGvisor() {
    PlacementFixture fixture = PlacementFixture.selfHosted(ALL);
    assertThat(fixture.select(MCP_SERVER).names())
        .startsWith("gvisor", "firecracker", "bubblewrap");
    fixture.get("gvisor").ill("no runsc");
    assertThat(fixture.select(MCP_SERVER).names()).startsWith("firecracker");
  }

  @Test
  @DisplayName("Emulated virtual machines are not chosen by auto")
  void emulatedVirtualMachinesAreNotChosenByAuto() {
    PlacementFixture fixture = PlacementFixture.selfHosted("qemu", "gvisor", "bubblewrap");
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
        .as("with KVM")
        .containsExactly("qemu", "gvisor", "bubblewrap");
    assertThat(fixture.select(MCP_SERVER).names()).startsWith("gvisor", "qemu");

    fixture.get("qemu").emulated = true;
    assertThat(fixture.select(CreateRequest.auto(SPEC)).names())
        .containsExactly("gvisor", "bubblewrap");
    assertThat(fixture.place(CreateRequest.of(SPEC, "qemu")).provider().name()).isEqualTo("qemu");
    assertThatThrownBy(
            () ->
                fixture.place(
                    CreateRequest.auto(SPEC).requiring(Requirements.isolation(Isolation.VM))))
        .isInstanceOf(Unsupported.class)
        .hasMessageContainingAll(
            "qemu: emulates the processors of its sandboxes in software",
            "for qemu: name provider qemu in the request, or set allow_emulation: true");
  }

  @Test
  @DisplayName("Explicit local_microvm falls back to E2B, unless told not to")
  void explicitLocalMicrovmFallsBackToE2b() {
    PlacementFixture fixture = PlacementFixture.selfHosted("microvmctl", "e2b", "gvisor");
    fixture.get("microvmctl").failing(ErrorCode.SPAWN_FAILED, "no worker");
    fixture.get("e2b").ill("has no API key");
    CreateRequest request = CreateRequest.of(SPEC, ProviderNames.canonical("local_microvm"));
    assertThatThrownBy(() -> fixture.place(request)).isInstanceOf(SandboxException.class);
    assertThat(fixture.get("e2b").created).as("without a key").hasValue(0);

    fixture.get("e2b").health = new Health.Healthy("has a key");
    PlacementFixture keyed =
        new PlacementFixture(policy(true), "gvisor")
            .add(fixture.get("microvmctl"))
            .add(fixture.get("e2b"));
    assertThat(keyed.place(request).provider().name()).isEqualTo("e2b");
    assertThat(keyed.place(request).attempts())
        .extracting(ProviderAttempt::provider)
        .containsExactly("microvmctl");
    assertThat(keyed.select(request.strict()).names()).containsExactly("microvmctl");
    assertThatThrownBy(() -> keyed.place(request.strict())).hasMessageContaining("no worker");

    PlacementFixture turnedOff = new PlacementFixture(policy(false), "e2b", "microvmctl");
    assertThat(turnedOff.select(request).names()).containsExactly("microvmctl");

    fixture.get("microvmctl").ill("no CLI");
    assertThat(keyed.select(request).names()).as("fails without fallback").containsExactly("e2b");
    assertThat(keyed.select(CreateRequest.of(SPEC, ProviderNames.canonical("remote_e2b"))).names())
        .containsExactly("e2b");
  }

  private static SelectionPolicy policy(boolean fallback) {
    return new SelectionPolicy(
        SelectionPolicy.DEFAULT.mode(), Isolation.CONTAINER, false, false, fallback);
  }
}
