package dev.isola.engine.trace;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.Keys;
import dev.isola.engine.metrics.Metrics;
import dev.isola.engine.metrics.Recorder;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A span for each request and for each thing the engine does meanwhile, where config says who
 * collects them. A request is one thread's work, so its trace is the thread's.
 */
public final class Traces implements AutoCloseable {
  private static final ThreadLocal<@Nullable TraceContext> CURRENT = new ThreadLocal<>();

  private final @Nullable SpanSender sender;
  private final InstantSource clock;

  private Traces(@Nullable SpanSender sender, InstantSource clock) {
    this.sender = sender;
    this.clock = clock;
  }

  public static Traces open(Config config, Metrics metrics) {
    Optional<SpanSender> sender = config.get(Keys.TRACES_OTLP_URL).map(SpanSender::new);
    sender.ifPresent(
        one -> {
          metrics.count("isola.spans.sent", "Spans that were delivered", one::sent);
          metrics.count("isola.spans.dropped", "Spans that were not", one::dropped);
        });
    return new Traces(sender.orElse(null), InstantSource.system());
  }

  /** Returns a recorder that makes spans of what the thread of a request does. */
  public Recorder around(Recorder recorder) {
    return sender == null ? recorder : new TracingRecorder(recorder, this);
  }

  /**
   * Begins the trace of the calling thread.
   *
   * @param traceparent the header of that name
   */
  public void begin(Optional<String> traceparent) {
    if (sender != null) {
      CURRENT.set(TraceContext.of(traceparent));
    }
  }

  /** Ends what {@link #begin} began; without that nothing happens. */
  public void end(String name, long nanos, boolean good, Map<String, String> attributes) {
    TraceContext context = CURRENT.get();
    if (context != null) {
      CURRENT.remove();
      send(context, name, true, nanos, good, attributes);
    }
  }

  /** Tells of something that the calling thread has just done within its request. */
  void did(String name, long nanos, boolean good, Map<String, String> attributes) {
    TraceContext context = CURRENT.get();
    if (context != null) {
      send(context.within(), name, false, nanos, good, attributes);
    }
  }

  private void send(
      TraceContext context,
      String name,
      boolean server,
      long nanos,
      boolean good,
      Map<String, String> attributes) {
    SpanSender to = sender;
    if (to != null && context.sampled()) {
      Instant now = clock.instant();
      long ended = now.getEpochSecond() * 1_000_000_000 + now.getNano();
      to.offer(new Span(context, name, server, ended - nanos, ended, good, attributes));
    }
  }

  @Override
  public void close() {
    if (sender != null) {
      sender.close();
    }
  }
}
