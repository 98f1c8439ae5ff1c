package dev.isola.engine.metrics;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Optional;

/** Keeps metrics for scraping by Prometheus. */
record PrometheusExporter() implements MetricsExporter {
  @Override
  public Optional<MeterRegistry> open(Config config) {
    return config.get(ConfigKeys.METRICS_PROMETHEUS)
        ? Optional.of(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
        : Optional.empty();
  }
}
