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

/** The metrics of one engine: what is recorded, what is looked at, and who gets to see it. */
public final class Metrics implements AutoCloseable {
  /** Whoever fetches metrics more often sees the same levels again. */
  private static final Duration GAUGE_MAX_AGE = Duration.ofSeconds(1);

  private final List<MeterRegistry> registries;
  private final CompositeMeterRegistry all = new CompositeMeterRegistry();
  private final MetricsRecorder recorder;
  private final List<LongSupplier> counters = new CopyOnWriteArrayList<>();

  private Metrics(List<MeterRegistry> registries) {
    this.registries = registries;
    registries.forEach(all::add);
    recorder = registries.isEmpty() ? MetricsRecorder.NOOP : new MicrometerRecorder(all);
  }

  /** Opens the exporters that config wants; without one nothing is recorded. */
  public static Metrics open(Config config) {
    return new Metrics(
        MetricsExporter.ALL.stream()
            .map(one -> one.open(config))
            .flatMap(Optional::stream)
            .toList());
  }

  public MetricsRecorder recorder() {
    return recorder;
  }

  /**
   * Begins to show levels.
   *
   * @param providers all there are; a level of another one is not shown
   */
  public void registerGauges(Supplier<GaugeValues> levels, Collection<String> providers) {
    new EngineGauges(all, new CachedSupplier<>(levels, GAUGE_MAX_AGE, System::nanoTime))
        .register(providers);
  }

  /** Shows a count that somebody else keeps. */
  public void registerCounter(String name, String words, LongSupplier count) {
    counters.add(count); // a meter alone does not keep it
    FunctionCounter.builder(name, count, LongSupplier::getAsLong).description(words).register(all);
  }

  /** Returns everything in the text format of Prometheus; empty text when config turned it off. */
  public String scrape() {
    return registries.stream()
        .filter(PrometheusMeterRegistry.class::isInstance)
        .map(PrometheusMeterRegistry.class::cast)
        .map(PrometheusMeterRegistry::scrape)
        .findFirst()
        .orElse("");
  }

  /** Sends what was not sent yet, and forgets everything. */
  @Override
  public void close() {
    registries.forEach(MeterRegistry::close);
    all.close();
  }
}
