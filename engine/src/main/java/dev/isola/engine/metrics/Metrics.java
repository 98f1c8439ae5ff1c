package dev.isola.engine.metrics;

import dev.isola.engine.config.Config;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The metrics of one engine and their exporters. */
public final class Metrics implements AutoCloseable {
  /** How long gauge values are cached between scrapes. */
  private static final Duration GAUGE_MAX_AGE = Duration.ofSeconds(1);

  private final List<MeterRegistry> registries;
  private final CompositeMeterRegistry all = new CompositeMeterRegistry();
  private final StatisticsRecorder recorder;
  private final List<LongSupplier> counters = new CopyOnWriteArrayList<>();

  private Metrics(List<MeterRegistry> registries) {
    this.registries = registries;
    registries.forEach(all::add);
    recorder =
        new StatisticsRecorder(
            registries.isEmpty() ? MetricsRecorder.NOOP : new MicrometerRecorder(all));
  }

  /** Opens the configured exporters. Without any, only the statistics are recorded. */
  public static Metrics open(Config config) {
    return new Metrics(
        MetricsExporter.ALL.stream()
            .map(one -> one.open(config))
            .flatMap(Optional::stream)
            .toList());
  }

  /** Returns metrics that keep only the statistics. */
  public static Metrics withoutExporters() {
    return new Metrics(List.of());
  }

  public MetricsRecorder recorder() {
    return recorder;
  }

  /** Returns the totals and recent durations that are kept in memory. */
  public StatisticsRecorder statistics() {
    return recorder;
  }

  /**
   * Registers the gauges.
   *
   * @param providers all provider names; gauges exist only for these
   */
  public void registerGauges(Supplier<GaugeValues> values, Collection<String> providers) {
    new EngineGauges(all, new CachedSupplier<>(values, GAUGE_MAX_AGE, System::nanoTime))
        .register(providers);
  }

  /** Registers a counter whose value is maintained elsewhere. */
  public void registerCounter(String name, String description, LongSupplier count) {
    counters.add(count); // a meter holds only a weak reference
    FunctionCounter.builder(name, count, LongSupplier::getAsLong)
        .description(description)
        .register(all);
  }

  /** Returns all metrics in the Prometheus text format; empty if the configuration disables it. */
  public String scrape() {
    return registries.stream()
        .filter(PrometheusMeterRegistry.class::isInstance)
        .map(PrometheusMeterRegistry.class::cast)
        .map(PrometheusMeterRegistry::scrape)
        .findFirst()
        .orElse("");
  }

  /** Exports pending metrics and closes the registries. */
  @Override
  public void close() {
    registries.forEach(MeterRegistry::close);
    all.close();
  }
}
