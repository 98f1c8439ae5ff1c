package dev.isola.engine.metrics;

import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/**
 * A sandbox whose commands and files are measured. It can do what the one within can, no less and
 * no more. Attaching to a command again is not measured: it was when it was started.
 */
public record MeasuredSandbox(Sandbox inner, String provider, Recorder recorder)
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
      recorder.started(provider);
      return new MeasuredExecution(execution, provider, recorder);
    } catch (SandboxException e) {
      recorder.failed(Deed.EXECUTION, e.code());
      throw e;
    }
  }

  /** Left to the one within, which may know a shorter way than starting and reading. */
  @Override
  public ExecResult run(Command command, OutputLimit limit) {
    try {
      ExecResult result = inner.run(command, limit);
      recorder.started(provider);
      recorder.moved(
          provider, Cargo.STREAM, Direction.OUT, result.stdout().total() + result.stderr().total());
      recorder.ended(provider, Ending.of(result.exit()), result.duration().toNanos());
      return result;
    } catch (SandboxException e) {
      recorder.failed(Deed.EXECUTION, e.code());
      throw e;
    }
  }

  @Override
  public FileSystem files() {
    return new MeasuredFiles(inner.files(), provider, recorder);
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    Optional<C> found = inner.as(capability);
    return capability == Terminals.class
        ? found.map(
            one -> capability.cast(new MeasuredTerminals((Terminals) one, provider, recorder)))
        : found;
  }
}
