package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/** Discards everything; used if no exporter is configured. */
final class NoopMetricsRecorder implements MetricsRecorder {
  @Override
  public void recordCreate(String provider, boolean warm, boolean succeeded, long nanos) {}

  @Override
  public void recordFallback(String provider) {}

  @Override
  public void recordOperation(
      EngineOperation operation, String provider, boolean succeeded, long nanos) {}

  @Override
  public void recordExecutionStart(String provider) {}

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos) {}

  @Override
  public void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos) {}

  @Override
  public void recordEgress(String provider, boolean allowed) {}

  @Override
  public void recordBytes(
      String provider, ByteCategory category, Direction direction, long bytes) {}

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {}

  @Override
  public void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes) {}

  @Override
  public void recordError(EngineOperation operation, ErrorCode code) {}
}
