package dev.isola.engine.api.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.CapacityUsage;
import dev.isola.engine.api.EngineSample;
import dev.isola.engine.api.HealthChange;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.metrics.Metrics;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.Ledgers;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** D6: samples are bounded, and cheap with many sandboxes. */
class StatisticsSamplerTest {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;
  private final AtomicLong nanos = new AtomicLong();
  private Ledger ledger;
  private Metrics metrics;
  private List<ProviderStatus> providers = List.of();
  private StatisticsSampler sampler;

  @BeforeEach
  void open() {
    ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")));
    metrics = Metrics.withoutExporters();
    sampler =
        new StatisticsSampler(
            new StatisticsSampler.Sources(
                ledger.sandboxes(),
                metrics.statistics(),
                () -> 3,
                () -> new CapacityUsage(Resources.NONE, Resources.NONE, Resources.NONE, 0),
                () -> providers),
            () -> START.plusNanos(nanos.get()),
            nanos::get);
  }

  @AfterEach
  void close() {
    metrics.close();
    ledger.close();
  }

  private void tick() {
    nanos.addAndGet(StatisticsSampler.INTERVAL.toNanos());
    sampler.sample();
  }

  @Test
  void historyIsBoundedToAnHour() throws InterruptedException {
    for (int i = 0; i < 5 * 400; i++) {
      tick();
    }
    List<EngineSample> samples = sampler.history().samples();
    assertThat(samples).hasSize(360);
    for (int i = 1; i < samples.size(); i++) {
      assertThat(Duration.between(samples.get(i - 1).at(), samples.get(i).at()))
          .isEqualTo(StatisticsSampler.HISTORY_INTERVAL);
    }
    assertThat(sampler.await(samples.getLast().number(), Duration.ZERO)).isEmpty();
  }

  @Test
  void samplesAreFrequentOnlyWhileAClientFollows() throws InterruptedException {
    tick();
    long first = sampler.await(0, Duration.ZERO).orElseThrow().number();
    tick();
    assertThat(sampler.await(first, Duration.ZERO)).isEmpty();
    try (StatisticsSampler.Subscription _ = sampler.subscribe()) {
      tick();
      assertThat(sampler.await(first, Duration.ZERO)).isPresent();
    }
    long last = sampler.await(first, Duration.ZERO).orElseThrow().number();
    tick();
    assertThat(sampler.await(last, Duration.ZERO)).isEmpty();
  }

  @Test
  void ratesCoverTheLastMinute() throws InterruptedException {
    try (StatisticsSampler.Subscription _ = sampler.subscribe()) {
      for (int i = 0; i < 4; i++) {
        metrics.recorder().recordCreate("a", false, true, (i + 1) * 1_000_000L);
        metrics.recorder().recordHttpRequest("GET", "/", 200, 1);
      }
      metrics.recorder().recordCreate("a", false, false, 1);
      metrics.recorder().recordFallback("a");
      metrics.recorder().recordEgress("a", false);
      metrics.recorder().recordEgress("a", true);
      tick();
      EngineSample sample = sampler.await(0, Duration.ZERO).orElseThrow();
      assertThat(sample.createsInLastMinute()).isEqualTo(4);
      assertThat(sample.requestsPerSecond()).isEqualTo(2);
      assertThat(sample.fallbacks()).isEqualTo(1);
      assertThat(sample.egressDenials()).isEqualTo(1);
      assertThat(sample.create().orElseThrow().p50()).isEqualTo(2);
      assertThat(sample.create().orElseThrow().p99()).isEqualTo(4);
      assertThat(sample.execution()).isEmpty();
      for (int i = 0; i < 31; i++) {
        tick();
      }
      sample = sampler.await(sample.number(), Duration.ZERO).orElseThrow();
      assertThat(sample.createsInLastMinute()).isZero();
      assertThat(sample.requestsPerSecond()).isZero();
    }
  }

  @Test
  void healthChangesAreKept() {
    for (int i = 0; i < 300; i++) {
      providers =
          List.of(ProviderStatus.unavailable("a", "reason " + i / 2, "fix", START.plusSeconds(i)));
      tick();
    }
    List<HealthChange> changes = sampler.history().health().getOrDefault("a", List.of());
    assertThat(changes).hasSize(100);
    assertThat(changes.getLast().health().toString()).contains("reason 149");
    assertThat(changes.getFirst().health().toString()).contains("reason 50");
  }

  @Test
  void sampleCountsAThousandSandboxes() {
    for (int i = 0; i < 1000; i++) {
      SandboxEntry stored =
          ledger
              .sandboxes()
              .insert(
                  SandboxEntry.intent(
                          new SandboxId("box" + i), "{}", "hash", "a", Isolation.VM, START)
                      .expiresAt(START.plusSeconds(i))
                      .build());
      UpdateResult updated =
          ledger.sandboxes().update(stored.withState(SandboxState.RUNNING, START));
      assertThat(updated).isInstanceOf(UpdateResult.Written.class);
    }
    try (StatisticsSampler.Subscription _ = sampler.subscribe()) {
      tick();
    }
    EngineSample sample = sampler.history().samples().getFirst();
    assertThat(sample.sandboxes()).containsEntry(SandboxState.RUNNING, 1000L);
    assertThat(sample.expiringSoon()).isEqualTo(602);
  }
}
