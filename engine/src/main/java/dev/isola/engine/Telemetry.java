package dev.isola.engine;

import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.trace.Tracer;
import dev.isola.engine.config.Config;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.metrics.Instrumentation;
import dev.isola.engine.metrics.Metrics;
import java.time.InstantSource;

/** Metrics, traces and the latest failures of sandboxes. */
final class Telemetry implements AutoCloseable {
  final Metrics metrics;
  final Tracer tracer;
  final RecentErrors errors;
  final ActivityTracker activity = new ActivityTracker();
  final Instrumentation instrumentation;

  Telemetry(Config config, InstantSource clock) {
    metrics = Metrics.open(config);
    tracer = Tracer.open(config, metrics);
    errors = new RecentErrors(clock);
    instrumentation = new Instrumentation(tracer.instrument(metrics.recorder()), activity, errors);
  }

  @Override
  public void close() {
    tracer.close();
    metrics.close();
  }
}
