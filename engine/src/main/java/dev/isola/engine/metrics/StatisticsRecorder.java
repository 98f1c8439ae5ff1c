package dev.isola.engine.metrics;

import dev.isola.spi.error.ErrorCode;
import java.util.concurrent.atomic.LongAdder;

/** Keeps totals and recent durations in memory, and passes all calls on. */
public final class StatisticsRecorder implements MetricsRecorder {
  private final MetricsRecorder recorder;
  private final LongAdder creates = new LongAdder();
  private final LongAdder fallbacks = new LongAdder();
  private final LongAdder egressDenials = new LongAdder();
  private final LongAdder httpRequests = new LongAdder();
  private final DurationWindow createDurations = new DurationWindow(System::nanoTime);
  private final DurationWindow executionDurations = new DurationWindow(System::nanoTime);

  StatisticsRecorder(MetricsRecorder recorder) {
    this.recorder = recorder;
  }

  /** Totals since the start of the engine. */
  public record Totals(long creates, long fallbacks, long egressDenials, long httpRequests) {}

  public Totals totals() {
    return new Totals(creates.sum(), fallbacks.sum(), egressDenials.sum(), httpRequests.sum());
  }

  /** Returns the durations of successful create requests. */
  public DurationWindow createDurations() {
    return createDurations;
  }

  /** Returns the durations of commands. */
  public DurationWindow executionDurations() {
    return executionDurations;
  }

  @Override
  public void recordCreate(String provider, boolean warm, boolean succeeded, long nanos) {
    if (succeeded) {
      creates.increment();
      createDurations.add(nanos);
    }
    recorder.recordCreate(provider, warm, succeeded, nanos);
  }

  @Override
  public void recordFallback(String provider) {
    fallbacks.increment();
    recorder.recordFallback(provider);
  }

  @Override
  public void recordOperation(
      EngineOperation operation, String provider, boolean succeeded, long nanos) {
    recorder.recordOperation(operation, provider, succeeded, nanos);
  }

  @Override
  public void recordExecutionStart(String provider) {
    recorder.recordExecutionStart(provider);
  }

  @Override
  public void recordExecutionEnd(String provider, ExecutionOutcome outcome, long nanos) {
    executionDurations.add(nanos);
    recorder.recordExecutionEnd(provider, outcome, nanos);
  }

  @Override
  public void recordTransfer(String provider, Direction direction, boolean succeeded, long nanos) {
    recorder.recordTransfer(provider, direction, succeeded, nanos);
  }

  @Override
  public void recordEgress(String provider, boolean allowed) {
    if (!allowed) {
      egressDenials.increment();
    }
    recorder.recordEgress(provider, allowed);
  }

  @Override
  public void recordBytes(String provider, ByteCategory category, Direction direction, long bytes) {
    recorder.recordBytes(provider, category, direction, bytes);
  }

  @Override
  public void recordHttpRequest(String method, String route, int status, long nanos) {
    httpRequests.increment();
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
}
