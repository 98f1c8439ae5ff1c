package dev.isola.engine.metrics;

import dev.isola.engine.config.Config;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Optional;

/** A way for metrics to leave this process; config says whether it is taken. */
interface MetricsExporter {
  List<MetricsExporter> ALL = List.of(new PrometheusExporter(), new OtlpExporter());

  /** Returns where to record for it; empty when config does not want it. */
  Optional<MeterRegistry> open(Config config);
}
