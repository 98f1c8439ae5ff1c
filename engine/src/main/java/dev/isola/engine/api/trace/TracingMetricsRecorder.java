package dev.isola.engine.api.trace;

import dev.isola.engine.metrics.ByteCategory;
import dev.isola.engine.metrics.Direction;
import dev.isola.engine.metrics.EngineOperation;
import dev.isola.engine.metrics.ExecutionOutcome;
import dev.isola.engine.metrics.MetricsRecorder;
import dev.isola.spi.error.ErrorCode;
import java.util.Locale;
import java.util.Map;

/**
 * Creates spans from recorded metrics. Calls come from the thread that performed the operation,
 * immediately after it.
 */
record TracingMetricsRecorder(MetricsRecorder recorder, Tracer traces) implements MetricsRecorder {
  @Override
  public void recordCreate(String provider, boolean warm, boolean succeeded, long nanos) {
    traces.recordSpan(
        "spawn", nanos, succeeded, Map.of("provider", provider, "start", warm ? "warm" : "cold"));
    recorder.recordCreate(provider, warm, succeeded, nanos);
  }

  @Override
  public void recordFallback(String provider) {
    recorder.recordFallback(provider);
  }

  @Override
  public void recordOperation(
      EngineOperation operation, String provider, boolean succeeded, long nanos) {
    traces.recordSpan(lowerCase(operation), nanos, succeeded, Map.of("provider", provider));
    recorder.recordOperation(operation, provider, succeeded, nanos);
  }

  @Override
  public void recordExecutionStart(String provider) {
    recorder.recordExecutionStart(provider);
  }

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos) {
    // A failed command is a result, not an error of the span; a lost command is an error.
    traces.recordSpan(
        "execution",
        nanos,
        outcome != ExecutionOutcome.LOST,
        Map.of("provider", provider, "outcome", lowerCase(outcome)));
    recorder.recordExecutionEnd(provider, outcome, nanos);
  }

  @Override
  public void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos) {
    traces.recordSpan(
        "file_transfer",
        nanos,
        succeeded,
        Map.of("provider", provider, "direction", lowerCase(direction)));
    recorder.recordTransfer(provider, direction, succeeded, nanos);
  }

  @Override
  public void recordEgress(String provider, boolean allowed) {
    recorder.recordEgress(provider, allowed);
  }

  @Override
  public void recordBytes(String provider, ByteCategory category, Direction direction, long bytes) {
    recorder.recordBytes(provider, category, direction, bytes);
  }

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {
    recorder.recordHttpRequest(method, route, status, nanos);
  }

  @Override
  public void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes) {
    recorder.recordSnapshot(provider, bytes, newBytes, storedBytes);
  }

  @Override
  public void recordError(EngineOperation operation, ErrorCode code) {
    recorder.recordError(operation, code);
  }

  private static String lowerCase(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
