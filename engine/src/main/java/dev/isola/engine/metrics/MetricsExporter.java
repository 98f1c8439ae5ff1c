package dev.isola.engine.metrics;

import dev.isola.engine.config.Config;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Optional;

/** Exports metrics if the configuration enables it. */
interface MetricsExporter {
  List<MetricsExporter> ALL = List.of(new PrometheusExporter(), new OtlpExporter());

  /** Returns a new registry to record into; empty if the configuration disables this exporter. */
  Optional<MeterRegistry> open(Config config);
}
