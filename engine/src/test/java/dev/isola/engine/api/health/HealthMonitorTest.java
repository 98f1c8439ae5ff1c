package dev.isola.engine.api.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeClock;
import dev.isola.engine.FakeLog;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HealthMonitorTest {
  private static final ProbeSchedule QUICK =
      new ProbeSchedule(Duration.ofMillis(5), Duration.ofMillis(100));

  private final FakeLog log = new FakeLog();
  private final FakeClock clock = new FakeClock();

  /** A provider that hangs until it is released and ignores interrupts. */
  private static final class HangingProvider implements Provider {
    volatile CountDownLatch letGo = new CountDownLatch(1);
    final AtomicInteger requested = new AtomicInteger();
    final AtomicInteger answered = new AtomicInteger();

    @Override
    public ProviderInfo info() {
      return new FakeProvider("hanging").info();
    }

    @Override
    public Health health() {
      requested.incrementAndGet();
      CountDownLatch open = letGo;
      boolean interrupted = false;
      while (open.getCount() > 0) {
        try {
          open.await();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      answered.incrementAndGet();
      return new Health.Healthy("at last");
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Sandbox> attach(SandboxId id) {
      return Optional.empty();
    }

    @Override
    public List<InventoryItem> inventory() {
      return List.of();
    }

    @Override
    public void destroy(SandboxId id, DestroyOptions how) {}

    @Override
    public void close() {}
  }

  private HealthMonitor start(Map<String, Provider> providers) {
    return HealthMonitor.start(providers, List.of(), QUICK, clock, log);
  }

  private static ProviderStatus of(HealthMonitor monitor, String name) {
    return monitor.current().stream()
        .filter(one -> one.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void refreshProbesAllProvidersAtOnceAndCallersShareTheResult() throws Exception {
    FakeProvider good = new FakeProvider("good");
    HangingProvider hanging = new HangingProvider();
    ProbeSchedule seldom = new ProbeSchedule(Duration.ofHours(1), Duration.ofMillis(200));
    try (HealthMonitor monitor =
        HealthMonitor.start(
            Map.of("good", good, "hanging", hanging), List.of(), seldom, clock, log)) {
      monitor.awaitFirstProbes();
      good.health = new Health.Unhealthy("no kernel", "install one");
      assertThat(of(monitor, "good").healthy()).as("the next probe is in an hour").isTrue();
      int before = good.requested.get();
      List<CompletableFuture<List<ProviderStatus>>> callers =
          Stream.generate(() -> CompletableFuture.supplyAsync(monitor::refresh)).limit(5).toList();
      for (CompletableFuture<List<ProviderStatus>> caller : callers) {
        assertThat(caller.get(10, TimeUnit.SECONDS))
            .filteredOn(one -> one.name().equals("good"))
            .allMatch(one -> one.health().equals(new Health.Unhealthy("no kernel", "install one")))
            .hasSize(1);
      }
      assertThat(good.requested).hasValue(before + 1);
      assertThat(hanging.requested).as("one probe at a time").hasValue(1);
      hanging.letGo.countDown();
    }
  }

  @Test
  void hangingProviderDelaysNoOtherAndIsNotProbedAgain() {
    HangingProvider hanging = new HangingProvider();
    FakeProvider good = new FakeProvider("good");
    try (HealthMonitor monitor = start(Map.of("hanging", hanging, "good", good))) {
      monitor.awaitFirstProbes();
      assertThat(of(monitor, "good").healthy()).isTrue();
      assertThat(of(monitor, "hanging").health())
          .isEqualTo(
              new Health.Unhealthy(
                  "its first health probe timed out after 0.1 s",
                  "wait if the machine is busy; otherwise check whether its backend hangs"));
      int rounds = good.requested.get();
      await().until(() -> good.requested.get() > rounds + 20);
      assertThat(hanging.requested).as("one probe at a time").hasValue(1);
      assertThat(log.warnings).as("it was never healthy").isEmpty();

      hanging.letGo.countDown();
      await().until(() -> of(monitor, "hanging").healthy());
      assertThat(log.infos).containsExactly("provider hanging is healthy now");
      await().until(() -> hanging.requested.get() > 1);
    } finally {
      hanging.letGo.countDown();
    }
  }

  @Test
  void slowFirstProbeIsAwaitedIfNoOtherProviderSuffices() throws Exception {
    HangingProvider slow = new HangingProvider();
    FakeProvider good = new FakeProvider("good");
    try (HealthMonitor monitor = start(Map.of("hanging", slow, "good", good))) {
      assertThat(monitor.awaitFirstProbes(known -> isHealthy(known, "good")))
          .as("the statuses are sufficient")
          .anySatisfy(one -> assertThat(one.healthy()).isTrue());
      CompletableFuture<List<ProviderStatus>> waiting =
          CompletableFuture.supplyAsync(
              () -> monitor.awaitFirstProbes(known -> isHealthy(known, "hanging")),
              Thread::startVirtualThread);
      int rounds = good.requested.get();
      await().until(() -> good.requested.get() > rounds + 20);
      assertThat(waiting).isNotDone();
      slow.letGo.countDown();
      assertThat(waiting.get(30, TimeUnit.SECONDS)).allMatch(ProviderStatus::healthy);
    } finally {
      slow.letGo.countDown();
    }
  }

  /** On a busy machine, every probe of a working provider may exceed its timeout. */
  @Test
  void lateAnswerCountsWithoutAnotherProbe() {
    HangingProvider slow = new HangingProvider();
    ProbeSchedule seldom = new ProbeSchedule(Duration.ofHours(1), Duration.ofMillis(1));
    try (HealthMonitor monitor =
        HealthMonitor.start(Map.of("hanging", slow), List.of(), seldom, clock, log)) {
      assertThat(monitor.awaitFirstProbes()).noneMatch(ProviderStatus::usable);
      slow.letGo.countDown();
      await().until(() -> of(monitor, "hanging").healthy());
      assertThat(slow.requested).hasValue(1);
    } finally {
      slow.letGo.countDown();
    }
  }

  @Test
  void slowProbeLeavesTheLastAnswerAsItIsForAWhile() {
    HangingProvider provider = new HangingProvider();
    provider.letGo.countDown();
    ProviderSelector selector = new ProviderSelector(SelectionPolicy.DEFAULT, Map.of());
    CreateRequest auto = CreateRequest.auto(SandboxSpec.builder(new SandboxId("auto")).build());
    try (HealthMonitor monitor = start(Map.of("hanging", provider))) {
      monitor.awaitFirstProbes();
      assertThat(of(monitor, "hanging").health()).isEqualTo(new Health.Healthy("at last"));
      Instant answered = of(monitor, "hanging").at();
      provider.letGo = new CountDownLatch(1);
      await().until(() -> !log.infos.isEmpty());
      assertThat(log.infos)
          .containsExactly(
              "provider hanging has not answered a health probe in time; its last answer counts"
                  + " until it does");
      clock.pass(QUICK.silence().minusMillis(1));
      assertThat(of(refreshed(monitor), "hanging").health())
          .isEqualTo(new Health.Healthy("at last"));
      assertThat(of(monitor, "hanging").at()).isEqualTo(answered);
      assertThat(selector.select(auto, monitor.current()).names()).containsExactly("hanging");

      clock.pass(Duration.ofMillis(1));
      await().until(() -> !of(monitor, "hanging").usable());
      assertThat(of(monitor, "hanging").health())
          .isEqualTo(
              new Health.Unhealthy(
                  "a health probe timed out after 1.2 s; the last answer, at "
                      + answered
                      + ", was: healthy, at last",
                  "check whether its backend hangs or the machine is overloaded"));
      provider.letGo.countDown();
      await().until(() -> of(monitor, "hanging").healthy());
    } finally {
      provider.letGo.countDown();
    }
  }

  private static HealthMonitor refreshed(HealthMonitor monitor) {
    assertThat(monitor.refresh()).isNotEmpty();
    return monitor;
  }

  private static boolean isHealthy(List<ProviderStatus> known, String name) {
    return known.stream().anyMatch(one -> one.name().equals(name) && one.healthy());
  }

  @Test
  void onlyALostProviderIsAWarning() {
    FakeProvider never = new FakeProvider("never");
    never.ill("is not installed");
    FakeProvider fell = new FakeProvider("fell");
    try (HealthMonitor monitor = start(Map.of("never", never, "fell", fell))) {
      monitor.awaitFirstProbes();
      int rounds = never.requested.get();
      await().until(() -> never.requested.get() > rounds + 3);
      assertThat(log.warnings).isEmpty();
      fell.ill("its daemon ended");
      await().until(() -> !log.warnings.isEmpty());
      assertThat(log.warnings)
          .singleElement()
          .asString()
          .startsWith("provider fell is unhealthy and will not be chosen: its daemon ended");
      assertThat(log.infos).isEmpty();
    }
  }

  @Test
  void hundredHangingProvidersDelayNoOther() {
    HangingProvider hanging = new HangingProvider();
    Map<String, Provider> providers = new TreeMap<>();
    for (int i = 0; i < 100; i++) {
      providers.put("hanging" + i, hanging);
    }
    FakeProvider good = new FakeProvider("good");
    providers.put("good", good);
    try (HealthMonitor monitor = start(providers)) {
      await().until(() -> good.requested.get() > 10);
      assertThat(monitor.awaitFirstProbes().stream().filter(ProviderStatus::healthy)).hasSize(1);
    } finally {
      hanging.letGo.countDown();
    }
  }

  @Test
  void failingProbeMakesTheProviderUnhealthyWithItsReason() {
    FakeProvider liar = new FakeProvider("liar");
    Provider thrower = new ThrowingProvider(new IllegalStateException("no daemon, and no manners"));
    try (HealthMonitor monitor = start(Map.of("other", liar, "thrower", thrower))) {
      monitor.awaitFirstProbes();
      assertThat(of(monitor, "thrower").health().toString()).contains("no daemon, and no manners");
      assertThat(of(monitor, "other").health().toString())
          .contains("it reports a different name: liar");
    }
  }

  @Test
  void lastInfoIsKeptDuringATimeout() {
    FakeProvider good = new FakeProvider("good");
    try (HealthMonitor monitor = start(Map.of("good", good))) {
      monitor.awaitFirstProbes();
      good.ill("tired");
      await().until(() -> !of(monitor, "good").healthy());
      assertThat(of(monitor, "good").info()).isPresent();
    }
  }

  @Test
  void closeEndsProbesAndWaits() {
    FakeProvider good = new FakeProvider("good");
    HealthMonitor monitor = start(Map.of("good", good));
    monitor.awaitFirstProbes();
    monitor.close();
    AtomicInteger before = new AtomicInteger(-1);
    await()
        .pollInterval(Duration.ofMillis(50))
        .until(() -> before.getAndSet(good.requested.get()) == good.requested.get());
  }

  @Test
  void probeIntervalIsJittered() {
    RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
    List<Duration> waits =
        Stream.generate(() -> ProbeSchedule.DEFAULT.nextDelay(random)).limit(1000).toList();
    assertThat(waits)
        .allSatisfy(
            wait -> assertThat(wait).isBetween(Duration.ofSeconds(27), Duration.ofSeconds(33)))
        .anySatisfy(wait -> assertThat(wait).isLessThan(Duration.ofMillis(27_600)))
        .anySatisfy(wait -> assertThat(wait).isGreaterThan(Duration.ofMillis(32_400)));
  }

  /** A provider whose health check violates the contract. */
  private record ThrowingProvider(RuntimeException failure) implements Provider {
    @Override
    public ProviderInfo info() {
      return new FakeProvider("thrower").info();
    }

    @Override
    public Health health() {
      throw failure;
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      throw failure;
    }

    @Override
    public Optional<Sandbox> attach(SandboxId id) {
      return Optional.empty();
    }

    @Override
    public List<InventoryItem> inventory() {
      return List.of();
    }

    @Override
    public void destroy(SandboxId id, DestroyOptions how) {}

    @Override
    public void close() {}
  }
}
