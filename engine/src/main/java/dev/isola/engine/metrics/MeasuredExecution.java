package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Counts the input and output of a command and records its duration when its end is observed. */
class MeasuredExecution implements Execution {
  private final Execution inner;
  private final String provider;
  private final MetricsRecorder recorder;
  private final ActivityTracker.Activity use;
  private final SandboxId sandbox;
  private final OpenExecutions open;
  private final AtomicBoolean ended = new AtomicBoolean();

  MeasuredExecution(
      Execution inner,
      String provider,
      MetricsRecorder recorder,
      ActivityTracker.Activity use,
      SandboxId sandbox,
      OpenExecutions open) {
    this.inner = inner;
    this.provider = provider;
    this.recorder = recorder;
    this.use = use;
    this.sandbox = sandbox;
    this.open = open;
  }

  @Override
  public ExecutionId id() {
    return inner.id();
  }

  @Override
  public long pid() {
    return inner.pid();
  }

  @Override
  public OutputStream stdin() {
    return new MeteredOutputStream(
        inner.stdin(),
        bytes -> recorder.recordBytes(provider, ByteCategory.STREAM, Direction.IN, bytes));
  }

  @Override
  public Optional<Output> read() {
    Optional<Output> chunk = recordingErrors(inner::read);
    if (chunk.isEmpty()) {
      use.close();
    }
    if (chunk.isPresent() && chunk.get() instanceof Output.Data data) {
      recorder.recordBytes(provider, ByteCategory.STREAM, Direction.OUT, data.bytes().size());
    }
    return chunk;
  }

  @Override
  public Exit await() {
    return recordEnd(recordingErrors(inner::await));
  }

  @Override
  public Optional<Exit> await(Duration timeout) {
    return recordingErrors(() -> inner.await(timeout)).map(this::recordEnd);
  }

  private Exit recordEnd(Exit exit) {
    use.close();
    if (ended.compareAndSet(false, true)) {
      open.ended(sandbox, inner.id(), exit, inner.duration());
    }
    return exit;
  }

  private <T> T recordingErrors(Supplier<T> work) {
    try {
      return work.get();
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.EXECUTION, e.code());
      throw e;
    }
  }

  @Override
  public Set<LimitKind> limitsMet() {
    return inner.limitsMet();
  }

  @Override
  public Duration duration() {
    return inner.duration();
  }

  @Override
  public void signal(Signal signal) {
    inner.signal(signal);
  }

  @Override
  public void kill() {
    inner.kill();
  }

  @Override
  public void close() {
    try (use) {
      inner.close();
    } finally {
      open.detached(sandbox, inner.id());
    }
  }
}
