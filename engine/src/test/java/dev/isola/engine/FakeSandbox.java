package dev.isola.engine;

import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/** A sandbox that is there and does nothing. */
record FakeSandbox(SandboxId id) implements Sandbox {
  @Override
  public SandboxState state() {
    return SandboxState.RUNNING;
  }

  @Override
  public Execution start(Command command) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem files() {
    throw new UnsupportedOperationException();
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.empty();
  }
}
