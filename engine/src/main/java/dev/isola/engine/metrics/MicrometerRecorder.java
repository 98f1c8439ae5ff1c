package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Records into Micrometer meters. Looks them up by small keys, which is cheaper than by tags. */
final class MicrometerRecorder implements MetricsRecorder {
  /** The histogram buckets in milliseconds, from a warm start to a template build. */
  private static final Duration[] BOUNDS =
      LongStream.of(
              1, 2, 3, 5, 10, 15, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
              300_000, 1_800_000)
          .mapToObj(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Map<Object, Timer> timers = new ConcurrentHashMap<>();
  private final Map<Object, Counter> counters = new ConcurrentHashMap<>();

  MicrometerRecorder(MeterRegistry registry) {
    this.registry = registry;
  }

  private record SpawnKey(String provider, boolean warm, boolean succeeded) {}

  private record FallbackKey(String provider) {}

  private record OperationKey(EngineOperation operation, String provider, boolean succeeded) {}

  private record StartKey(String provider) {}

  private record EndKey(String provider, ExecutionOutcome outcome) {}

  private record OomKey(String provider) {}

  private record TransferKey(String provider, Direction direction, boolean succeeded) {}

  private record BytesKey(String provider, ByteCategory category, Direction direction) {}

  private record EgressKey(String provider, boolean allowed) {}

  private record SnapshotBytesKey(String provider, String kind) {}

  private record HttpRequestKey(String method, String route, int hundreds) {}

  private record ErrorKey(EngineOperation operation, ErrorCode code) {}

  @Override
  public void recordCreate(String provider, boolean warm, boolean succeeded, long nanos) {
    timer(
            new SpawnKey(provider, warm, succeeded),
            "isola.spawn",
            "Time to create a sandbox or claim a warm one",
            () -> provider(provider).and("start", warm ? "warm" : "cold").and(outcome(succeeded)))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void recordFallback(String provider) {
    counter(
            new FallbackKey(provider),
            "isola.fallbacks",
            "Sandboxes created by another provider than the first choice",
            () -> provider(provider))
        .increment();
  }

  @Override
  public void recordOperation(
      EngineOperation operation, String provider, boolean succeeded, long nanos) {
    timer(
            new OperationKey(operation, provider, succeeded),
            "isola." + operation.label(),
            "Operations on sandboxes",
            () -> provider(provider).and(outcome(succeeded)))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void recordExecutionStart(String provider) {
    counter(
            new StartKey(provider),
            "isola.executions",
            "Commands started",
            () -> provider(provider))
        .increment();
  }

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos) {
    timer(
            new EndKey(provider, outcome),
            "isola.execution",
            "Duration of commands",
            () -> provider(provider).and("outcome", outcome.label()))
        .record(nanos, TimeUnit.NANOSECONDS);
    if (outcome == ExecutionOutcome.OUT_OF_MEMORY) {
      counter(
              new OomKey(provider),
              "isola.oom",
              "Commands killed at the memory limit",
              () -> provider(provider))
          .increment();
    }
  }

  @Override
  public void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos) {
    timer(
            new TransferKey(provider, direction, succeeded),
            "isola.file.transfer",
            "Transfers of files and trees between clients and sandboxes",
            () -> provider(provider).and("direction", direction.label()).and(outcome(succeeded)))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void recordEgress(String provider, boolean allowed) {
    counter(
            new EgressKey(provider, allowed),
            "isola.egress.connections",
            "Connections of sandboxes to other hosts",
            () -> provider(provider).and("outcome", allowed ? "allowed" : "denied"))
        .increment();
  }

  @Override
  public void recordBytes(String provider, ByteCategory category, Direction direction, long bytes) {
    if (bytes > 0) {
      counter(
              new BytesKey(provider, category, direction),
              "isola.bytes",
              "Bytes transferred into and out of sandboxes",
              () ->
                  provider(provider).and("kind", category.label(), "direction", direction.label()))
          .increment((double) bytes);
    }
  }

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {
    timer(
            new HttpRequestKey(method, route, status / 100),
            "isola.http.requests",
            "HTTP requests, including the transfer of the response",
            () -> Tags.of("method", method, "route", route, "status", status / 100 + "xx"))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes) {
    snapshotBytes(provider, "taken", bytes);
    snapshotBytes(provider, "new", newBytes);
    snapshotBytes(provider, "stored", storedBytes);
  }

  private void snapshotBytes(String provider, String kind, long bytes) {
    counter(
            new SnapshotBytesKey(provider, kind),
            "isola.snapshot.bytes",
            "Bytes of snapshots: total size, new to the store, and stored after compression",
            () -> provider(provider).and("kind", kind))
        .increment((double) bytes);
  }

  @Override
  public void recordError(EngineOperation operation, ErrorCode code) {
    counter(
            new ErrorKey(operation, code),
            "isola.errors",
            "Errors returned to clients",
            () ->
                Tags.of(
                    "operation", operation.label(), "code", code.name().toLowerCase(Locale.ROOT)))
        .increment();
  }

  private Timer timer(Object key, String name, String description, Supplier<Tags> tags) {
    Timer known = timers.get(key);
    return known != null
        ? known
        : timers.computeIfAbsent(
            key,
            any ->
                Timer.builder(name)
                    .description(description)
                    .tags(tags.get())
                    .serviceLevelObjectives(BOUNDS)
                    .register(registry));
  }

  private Counter counter(Object key, String name, String description, Supplier<Tags> tags) {
    Counter known = counters.get(key);
    return known != null
        ? known
        : counters.computeIfAbsent(
            key,
            any ->
                Counter.builder(name).description(description).tags(tags.get()).register(registry));
  }

  private static Tags provider(String name) {
    return Tags.of("provider", name);
  }

  private static Tags outcome(boolean succeeded) {
    return Tags.of("outcome", succeeded ? "ok" : "error");
  }
}
