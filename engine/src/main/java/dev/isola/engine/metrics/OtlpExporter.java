package dev.isola.engine.metrics;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Exports metrics by OTLP at an interval, and once more on close. */
record OtlpExporter() implements MetricsExporter {
  @Override
  public Optional<MeterRegistry> open(Config config) {
    return config
        .get(ConfigKeys.METRICS_OTLP_URL)
        .map(
            url ->
                new OtlpMeterRegistry(
                    new OtlpSettings(url, config.get(ConfigKeys.METRICS_OTLP_INTERVAL)),
                    Clock.SYSTEM));
  }

  /** Takes all settings from the configuration and none from the environment. */
  private record OtlpSettings(URI address, Duration interval) implements OtlpConfig {
    @Override
    public @Nullable String get(String key) {
      return null;
    }

    @Override
    public String url() {
      return address.toString();
    }

    @Override
    public Duration step() {
      return interval;
    }

    @Override
    public Map<String, String> headers() {
      return Map.of();
    }

    @Override
    public Map<String, String> resourceAttributes() {
      return Map.of("service.name", "isola");
    }
  }
}
