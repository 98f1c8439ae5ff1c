package dev.isola.engine.metrics;

import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.GuestProtocolAccess;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/**
 * A sandbox that records metrics and activity of its commands and files. Supports exactly the
 * capabilities of the wrapped sandbox.
 */
public record MeasuredSandbox(
    Sandbox inner,
    String provider,
    MetricsRecorder recorder,
    ActivityTracker activity,
    OpenExecutions executions)
    implements Sandbox {
  @Override
  public SandboxId id() {
    return inner.id();
  }

  @Override
  public SandboxState state() {
    return inner.state();
  }

  @Override
  public Execution start(Command command) {
    try {
      Execution execution = inner.start(command);
      recorder.recordExecutionStart(provider);
      executions.started(id(), execution, provider);
      return new MeasuredExecution(
          execution, provider, recorder, activity.begin(id()), id(), executions);
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.EXECUTION, e.code());
      throw e;
    }
  }

  /**
   * Delegates, because the wrapped sandbox may implement this faster than by starting and reading.
   */
  @Override
  public ExecResult run(Command command, OutputLimit limit) {
    try (ActivityTracker.Activity _ = activity.begin(id())) {
      ExecResult result = inner.run(command, limit);
      recorder.recordExecutionStart(provider);
      recorder.recordBytes(
          provider,
          ByteCategory.STREAM,
          Direction.OUT,
          result.stdout().total() + result.stderr().total());
      recorder.recordExecutionEnd(
          provider, ExecutionOutcome.of(result.exit()), result.duration().toNanos());
      return result;
    } catch (SandboxException e) {
      recorder.recordError(EngineOperation.EXECUTION, e.code());
      throw e;
    }
  }

  @Override
  public FileSystem files() {
    return new MeasuredFiles(inner.files(), provider, recorder, () -> activity.begin(id()));
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    Optional<C> found = inner.as(capability);
    return found.map(one -> capability.cast(measured(one)));
  }

  @Override
  public Optional<EgressAccess> egress() {
    return inner.egress();
  }

  /** An open channel counts as activity. */
  @Override
  public Optional<GuestProtocolAccess> guestProtocol() {
    return inner
        .guestProtocol()
        .map(access -> secret -> new TrackedConnection(access.open(secret), activity.begin(id())));
  }

  private Capability measured(Capability one) {
    return switch (one) {
      case Terminals terminals ->
          new MeasuredTerminals(terminals, id(), provider, recorder, activity, executions);
      case Attaching attaching -> new MeasuredAttaching(attaching, id(), activity, executions);
      case PortDialing dialing -> dialing(dialing);
      default -> one;
    };
  }

  private PortDialing dialing(PortDialing ports) {
    return port -> new TrackedConnection(ports.dial(port), activity.begin(id()));
  }
}
