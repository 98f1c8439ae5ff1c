package dev.isola.engine.metrics;

import dev.isola.engine.api.PoolStats;
import dev.isola.engine.api.Resources;
import dev.isola.engine.usage.UsageTotals;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collection;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Registers the gauges and counters that are computed from the state of the engine. All of them
 * exist from the start with value zero, so that alerts can refer to them.
 */
final class EngineGauges {
  private static final double BYTES_PER_MB = 1 << 20;

  private final MeterRegistry registry;
  private final Supplier<GaugeValues> values;

  EngineGauges(MeterRegistry registry, Supplier<GaugeValues> values) {
    this.registry = registry;
    this.values = values;
  }

  void register(Collection<String> providers) {
    for (String provider : providers) {
      Tags tags = Tags.of("provider", provider);
      for (SandboxState state : SandboxState.values()) {
        if (state != SandboxState.DESTROYED) {
          gauge(
              "isola.sandboxes",
              "Sandboxes that are not destroyed, including the warm pool",
              tags.and("state", state.name().toLowerCase(Locale.ROOT)),
              now -> sandboxes(now, provider, state));
        }
      }
      gauge("isola.pool.ready", "Warm sandboxes", tags, now -> ready(now, provider));
      gauge(
          "isola.usage.memory.bytes",
          "Memory used by running sandboxes in the latest sample",
          tags,
          now -> (double) used(now, provider).memoryBytes());
      gauge(
          "isola.usage.processes",
          "Processes of running sandboxes in the latest sample",
          tags,
          now -> (double) used(now, provider).processes());
      gauge(
          "isola.provider.healthy",
          "1 if the provider can create sandboxes, 0 if not",
          tags,
          now -> healthy(now, provider));
      gauge(
          "isola.provider.memory.promised.bytes",
          "Memory reserved for the sandboxes of the provider",
          tags,
          now -> reserved(now, provider).memoryMb() * BYTES_PER_MB);
      gauge(
          "isola.provider.cpu.promised",
          "CPUs reserved for the sandboxes of the provider",
          tags,
          now -> reserved(now, provider).milliCpu() / 1000.0);
    }
    gauge(
        "isola.sandboxes.quarantined",
        "Sandboxes with unreadable records",
        Tags.empty(),
        GaugeValues::quarantined);
    pool();
    admission();
  }

  private void pool() {
    gauge(
        "isola.pool.size", "Configured size of the warm pool", Tags.empty(), GaugeValues::poolSize);
    counter(
        "isola.pool.hits", "Requests that got a warm sandbox", Tags.empty(), EngineGauges::hits);
    for (String reason : PoolStats.REASONS) {
      counter(
          "isola.pool.misses",
          "Requests that got no warm sandbox, by reason",
          Tags.of("reason", reason.replace(' ', '_')),
          now -> (double) now.poolStats().misses().getOrDefault(reason, 0L));
    }
    gauge(
        "isola.pool.hit.ratio",
        "Share of requests that got a warm sandbox since the start; 0 before the first request",
        Tags.empty(),
        EngineGauges::hitRatio);
  }

  private void admission() {
    reserved("promised", "Reserved for sandboxes", now -> now.admission().reserved());
    reserved("capacity", "Capacity for sandboxes", now -> now.admission().capacity());
    gauge(
        "isola.admission.waiting",
        "Requests waiting for capacity",
        Tags.empty(),
        now -> now.admission().waiting());
  }

  private interface ResourceGauge {
    Resources of(GaugeValues now);
  }

  private void reserved(String what, String description, ResourceGauge resources) {
    gauge(
        "isola.admission.memory." + what + ".bytes",
        description,
        Tags.empty(),
        now -> limited(resources.of(now).memoryMb()) * BYTES_PER_MB);
    gauge(
        "isola.admission.cpu." + what,
        description,
        Tags.empty(),
        now -> limited(resources.of(now).milliCpu()) / 1000);
  }

  private static double limited(long amount) {
    return amount >= Resources.UNLIMITED ? Double.POSITIVE_INFINITY : amount;
  }

  private static double sandboxes(GaugeValues now, String provider, SandboxState state) {
    return (double)
        now.sandboxes().stream()
            .filter(one -> one.provider().equals(provider) && one.state() == state)
            .mapToLong(one -> one.count())
            .sum();
  }

  private static double ready(GaugeValues now, String provider) {
    return (double)
        now.sandboxes().stream()
            .filter(one -> one.provider().equals(provider) && one.pooled())
            .filter(one -> one.state() == SandboxState.RUNNING)
            .mapToLong(one -> one.count())
            .sum();
  }

  private static double healthy(GaugeValues now, String provider) {
    return now.statuses().stream().anyMatch(one -> one.name().equals(provider) && one.usable())
        ? 1
        : 0;
  }

  private static Resources reserved(GaugeValues now, String provider) {
    return now.reserved().getOrDefault(provider, Resources.NONE);
  }

  private static UsageTotals used(GaugeValues now, String provider) {
    return now.usage().getOrDefault(provider, UsageTotals.NOTHING);
  }

  private static double hits(GaugeValues now) {
    return (double) now.poolStats().hits();
  }

  private static double hitRatio(GaugeValues now) {
    double hits = (double) now.poolStats().hits();
    double all =
        hits + now.poolStats().misses().values().stream().mapToDouble(Long::doubleValue).sum();
    return all == 0 ? 0 : hits / all;
  }

  private void gauge(
      String name, String description, Tags tags, ToDoubleFunction<GaugeValues> value) {
    Gauge.builder(name, values, source -> read(source, value))
        .description(description)
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  private void counter(
      String name, String description, Tags tags, ToDoubleFunction<GaugeValues> value) {
    FunctionCounter.builder(name, values, source -> read(source, value))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  /** Reads a value. Returns NaN if the ledger fails, which leaves other meters unaffected. */
  private static double read(Supplier<GaugeValues> source, ToDoubleFunction<GaugeValues> value) {
    try {
      return value.applyAsDouble(source.get());
    } catch (SandboxException e) {
      return Double.NaN;
    }
  }
}
