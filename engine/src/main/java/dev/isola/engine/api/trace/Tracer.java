package dev.isola.engine.api.trace;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.metrics.MetricsRecorder;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Creates a span for each request and each operation within it, if an OTLP endpoint is configured.
 * One thread handles a request, so the trace context is thread-local.
 */
public final class Tracer implements AutoCloseable {
  private static final ThreadLocal<@Nullable TraceContext> CURRENT = new ThreadLocal<>();

  private final @Nullable SpanExporter sender;
  private final InstantSource clock;

  private Tracer(@Nullable SpanExporter sender, InstantSource clock) {
    this.sender = sender;
    this.clock = clock;
  }

  public static Tracer open(Config config, Metrics metrics) {
    Optional<SpanExporter> sender = config.get(ConfigKeys.TRACES_OTLP_URL).map(SpanExporter::new);
    sender.ifPresent(
        one -> {
          metrics.registerCounter("isola.spans.sent", "Spans exported", one::sent);
          metrics.registerCounter("isola.spans.dropped", "Spans dropped", one::dropped);
        });
    return new Tracer(sender.orElse(null), InstantSource.system());
  }

  /** Returns a recorder that also creates spans for the operations of a request. */
  public MetricsRecorder instrument(MetricsRecorder recorder) {
    return sender == null ? recorder : new TracingMetricsRecorder(recorder, this);
  }

  /**
   * Starts the trace of the calling thread.
   *
   * @param traceparent the value of the {@code traceparent} header
   */
  public void begin(Optional<String> traceparent) {
    if (sender != null) {
      CURRENT.set(TraceContext.of(traceparent));
    }
  }

  /** Ends the trace that {@link #begin} started; does nothing without one. */
  public void end(String name, long nanos, boolean succeeded, Map<String, String> attributes) {
    TraceContext context = CURRENT.get();
    if (context != null) {
      CURRENT.remove();
      send(context, name, true, nanos, succeeded, attributes);
    }
  }

  /** Records an operation that the calling thread has just completed within its request. */
  void recordSpan(String name, long nanos, boolean succeeded, Map<String, String> attributes) {
    TraceContext context = CURRENT.get();
    if (context != null) {
      send(context.child(), name, false, nanos, succeeded, attributes);
    }
  }

  private void send(
      TraceContext context,
      String name,
      boolean server,
      long nanos,
      boolean succeeded,
      Map<String, String> attributes) {
    SpanExporter exporter = sender;
    if (exporter != null && context.sampled()) {
      Instant now = clock.instant();
      long ended = now.getEpochSecond() * 1_000_000_000 + now.getNano();
      exporter.offer(new Span(context, name, server, ended - nanos, ended, succeeded, attributes));
    }
  }

  @Override
  public void close() {
    if (sender != null) {
      sender.close();
    }
  }
}
