package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps all calls, without durations. */
final class FakeMetricsRecorder implements MetricsRecorder {
  final List<String> told = new CopyOnWriteArrayList<>();

  @Override
  public void recordCreate(String provider, boolean warm, boolean succeeded, long nanos) {
    told.add("spawned " + provider + " warm=" + warm + " good=" + succeeded);
  }

  @Override
  public void recordFallback(String provider) {
    told.add("fell back to " + provider);
  }

  @Override
  public void recordOperation(
      EngineOperation operation, String provider, boolean succeeded, long nanos) {
    told.add("did " + operation + " " + provider + " good=" + succeeded);
  }

  @Override
  public void recordExecutionStart(String provider) {
    told.add("started " + provider);
  }

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos) {
    told.add("ended " + provider + " " + outcome);
  }

  @Override
  public void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos) {
    told.add("transferred " + provider + " " + direction + " good=" + succeeded);
  }

  @Override
  public void recordEgress(String provider, boolean allowed) {
    told.add("connected " + provider + " allowed=" + allowed);
  }

  @Override
  public void recordBytes(String provider, ByteCategory category, Direction direction, long bytes) {
    told.add("moved " + provider + " " + category + " " + direction + " " + bytes);
  }

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {
    told.add("answered " + method + " " + route + " " + status);
  }

  @Override
  public void recordSnapshot(String provider, long bytes, long newBytes, long storedBytes) {
    told.add("kept " + provider + " " + bytes + " " + newBytes + " " + storedBytes);
  }

  @Override
  public void recordError(EngineOperation operation, ErrorCode code) {
    told.add("failed " + operation + " " + code);
  }
}
