package dev.isola.engine;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A running sandbox that does nothing.
 *
 * @param usage the usage that it reports; empty if it does not report any
 * @param commandFailure the failure of every command
 */
record FakeSandbox(
    SandboxId id, Supplier<Optional<Usage>> usage, Supplier<RuntimeException> commandFailure)
    implements Sandbox {
  FakeSandbox(SandboxId id) {
    this(id, Optional::empty, UnsupportedOperationException::new);
  }

  @Override
  public SandboxState state() {
    return SandboxState.RUNNING;
  }

  @Override
  public Execution start(Command command) {
    throw commandFailure.get();
  }

  @Override
  public FileSystem files() {
    throw new UnsupportedOperationException();
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return capability == UsageReporting.class
        ? usage.get().map(now -> capability.cast((UsageReporting) () -> now))
        : Optional.empty();
  }
}
