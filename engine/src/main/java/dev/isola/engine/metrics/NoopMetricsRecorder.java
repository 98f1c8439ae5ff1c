package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;

/** Discards everything; used if no exporter is configured. */
final class NoopMetricsRecorder implements MetricsRecorder {
  @Override
  public void recordCreate(String provider, boolean warm, boolean good, long nanos) {}

  @Override
  public void recordOperation(EngineOperation deed, String provider, boolean good, long nanos) {}

  @Override
  public void recordExecutionStart(String provider) {}

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome how, long nanos) {}

  @Override
  public void recordTransfer(String provider, Direction direction, boolean good, long nanos) {}

  @Override
  public void recordBytes(String provider, ByteCategory cargo, Direction direction, long bytes) {}

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {}

  @Override
  public void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes) {}

  @Override
  public void recordError(EngineOperation deed, ErrorCode code) {}
}
