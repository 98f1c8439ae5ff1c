package dev.isola.engine.lifecycle;

import dev.isola.engine.peer.Ownership;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.GuestProtocolAccess;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import dev.isola.store.SandboxEntry;
import java.util.Optional;

/** A sandbox that another server owns: it is known, and refuses every use. */
record RefusingSandbox(SandboxEntry entry) implements Sandbox {
  @Override
  public SandboxId id() {
    return entry.id();
  }

  @Override
  public SandboxState state() {
    return entry.state();
  }

  @Override
  public Execution start(Command command) {
    throw Ownership.notOwner(entry);
  }

  @Override
  public ExecResult run(Command command, OutputLimit limit) {
    throw Ownership.notOwner(entry);
  }

  @Override
  public FileSystem files() {
    throw Ownership.notOwner(entry);
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    throw Ownership.notOwner(entry);
  }

  @Override
  public Optional<EgressAccess> egress() {
    throw Ownership.notOwner(entry);
  }

  @Override
  public Optional<GuestProtocolAccess> guestProtocol() {
    throw Ownership.notOwner(entry);
  }
}
