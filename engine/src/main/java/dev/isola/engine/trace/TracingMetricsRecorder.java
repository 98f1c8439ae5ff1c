package dev.isola.engine.trace;

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
  public void recordCreate(String provider, boolean warm, boolean good, long nanos) {
    traces.recordSpan(
        "spawn", nanos, good, Map.of("provider", provider, "start", warm ? "warm" : "cold"));
    recorder.recordCreate(provider, warm, good, nanos);
  }

  @Override
  public void recordOperation(EngineOperation deed, String provider, boolean good, long nanos) {
    traces.recordSpan(word(deed), nanos, good, Map.of("provider", provider));
    recorder.recordOperation(deed, provider, good, nanos);
  }

  @Override
  public void recordExecutionStart(String provider) {
    recorder.recordExecutionStart(provider);
  }

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome how, long nanos) {
    // A failed command is a result, not an error of the span; a lost command is an error.
    traces.recordSpan(
        "execution",
        nanos,
        how != ExecutionOutcome.LOST,
        Map.of("provider", provider, "outcome", word(how)));
    recorder.recordExecutionEnd(provider, how, nanos);
  }

  @Override
  public void recordTransfer(String provider, Direction direction, boolean good, long nanos) {
    traces.recordSpan(
        "file_transfer", nanos, good, Map.of("provider", provider, "direction", word(direction)));
    recorder.recordTransfer(provider, direction, good, nanos);
  }

  @Override
  public void recordBytes(String provider, ByteCategory cargo, Direction direction, long bytes) {
    recorder.recordBytes(provider, cargo, direction, bytes);
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
  public void recordError(EngineOperation deed, ErrorCode code) {
    recorder.recordError(deed, code);
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
