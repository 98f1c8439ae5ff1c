package dev.isola.engine.metrics;

import dev.isola.engine.decorator.FileTransfer;
import dev.isola.engine.decorator.MeteredInputStream;
import dev.isola.engine.decorator.SandboxObserver;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;

/**
 * Records the metrics and the activity of what clients do with one sandbox.
 *
 * @param provider the label of the provider
 */
record MetricsObserver(
    SandboxId sandbox,
    String provider,
    MetricsRecorder recorder,
    ActivityTracker activity,
    OpenExecutions executions)
    implements SandboxObserver {
  @Override
  public Use begin() {
    return activity.begin(sandbox)::close;
  }

  @Override
  public void started(Execution execution) {
    recorder.recordExecutionStart(provider);
    executions.started(sandbox, execution.id(), provider);
  }

  @Override
  public void ran(ExecResult result) {
    recorder.recordExecutionStart(provider);
    output(result.stdout().total() + result.stderr().total());
    recorder.recordExecutionEnd(
        provider, ExecutionOutcome.of(result.exit()), result.duration().toNanos());
  }

  @Override
  public void commandFailed(SandboxException e) {
    recorder.recordError(EngineOperation.EXECUTION, e.code());
  }

  @Override
  public OutputStream input(OutputStream stdin) {
    return new MeteredOutputStream(
        stdin, bytes -> recorder.recordBytes(provider, ByteCategory.STREAM, Direction.IN, bytes));
  }

  @Override
  public void output(long bytes) {
    recorder.recordBytes(provider, ByteCategory.STREAM, Direction.OUT, bytes);
  }

  @Override
  public void ended(ExecutionId execution, Exit exit, Duration duration) {
    executions.ended(sandbox, execution, exit, duration);
  }

  @Override
  public void detached(ExecutionId execution) {
    executions.detached(sandbox, execution);
  }

  /** The duration of an attached execution is recorded unless another observer has done so. */
  @Override
  public SandboxObserver attached() {
    return new MetricsObserver(sandbox, provider, MetricsRecorder.NOOP, activity, executions);
  }

  @Override
  public InputStream reading(FileTransfer kind, InputStream content, long begun) {
    ActivityTracker.Activity use = activity.begin(sandbox);
    return new MeteredInputStream(
        content,
        (bytes, succeeded) -> {
          use.close();
          recordTransfer(kind, bytes, succeeded, begun);
        });
  }

  @Override
  public void written(FileTransfer kind, long bytes, long begun) {
    recordTransfer(kind, bytes, true, begun);
  }

  private void recordTransfer(FileTransfer kind, long bytes, boolean succeeded, long begun) {
    recorder.recordBytes(provider, category(kind), direction(kind), bytes);
    recorder.recordTransfer(provider, direction(kind), succeeded, System.nanoTime() - begun);
  }

  @Override
  public void transferFailed(FileTransfer kind, SandboxException e, long begun) {
    recorder.recordTransfer(provider, direction(kind), false, System.nanoTime() - begun);
    filesFailed(e);
  }

  @Override
  public void filesFailed(SandboxException e) {
    recorder.recordError(EngineOperation.FILES, e.code());
  }

  private static ByteCategory category(FileTransfer kind) {
    return switch (kind) {
      case READ, WRITE -> ByteCategory.FILE;
      case EXPORT, IMPORT -> ByteCategory.TREE;
    };
  }

  private static Direction direction(FileTransfer kind) {
    return switch (kind) {
      case READ, EXPORT -> Direction.OUT;
      case WRITE, IMPORT -> Direction.IN;
    };
  }
}
