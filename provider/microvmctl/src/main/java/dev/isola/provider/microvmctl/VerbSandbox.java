package dev.isola.provider.microvmctl;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/** stub. */
final class VerbSandbox implements Sandbox {
  private final VmRecord record;

  VerbSandbox(Controller controller, VmRecord record) {
    this.record = record;
  }

  void ping() {}

  void markDestroyed() {}

  @Override
  public SandboxId id() {
    return record.id();
  }

  @Override
  public SandboxState state() {
    return SandboxState.RUNNING;
  }

  @Override
  public Execution start(Command command) {
    throw Capability.unsupported(MicrovmctlDescription.NAME, "exec");
  }

  @Override
  public FileSystem files() {
    throw Capability.unsupported(MicrovmctlDescription.NAME, "files");
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.empty();
  }
}
