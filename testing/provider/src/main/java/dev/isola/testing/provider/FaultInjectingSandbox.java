package dev.isola.testing.provider;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import java.util.List;
import java.util.Optional;

/** Plants faults in a sandbox: in its commands, files and capabilities. */
final class FaultInjectingSandbox implements Sandbox {
  private final Sandbox delegate;
  private final PlantedFaults faults;
  private final VolumeLinks links;

  FaultInjectingSandbox(Sandbox delegate, PlantedFaults faults, VolumeLinks links) {
    this.delegate = delegate;
    this.faults = faults;
    this.links = links;
  }

  @Override
  public SandboxId id() {
    return delegate.id();
  }

  @Override
  public SandboxState state() {
    return delegate.state();
  }

  @Override
  public Execution start(Command command) {
    try {
      return startOn(command);
    } catch (Gone e) {
      if (faults.has(PlantedFault.FOREIGN_EXCEPTION)) {
        throw new IllegalStateException("closed", e);
      }
      throw e;
    }
  }

  private Execution startOn(Command command) {
    if (faults.has(PlantedFault.DASH_IS_AN_OPTION) && command.mode() == Command.Mode.SHELL) {
      return delegate.start(unguarded(command));
    }
    if (faults.has(PlantedFault.TIMEOUT_SPARES_GRANDCHILDREN) && command.timeout().isPresent()) {
      return ExecutionFaults.withTimeoutOfTheLeader(delegate, command);
    }
    return ExecutionFaults.in(delegate.start(links.shownTo(command)), faults);
  }

  /**
   * Passes the script to the shell without the space that keeps a leading dash from being an
   * option.
   */
  private static Command unguarded(Command command) {
    return new Command(
        Command.Mode.ARGV,
        "/bin/sh",
        List.of("-c", command.display()),
        command.env(),
        command.cwd(),
        command.user(),
        command.stdin(),
        command.timeout(),
        command.tag());
  }

  @Override
  public FileSystem files() {
    return FileFaults.in(delegate.files(), faults);
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return delegate.as(capability).map(given -> CapabilityFaults.in(capability, given, faults));
  }

  @Override
  public String toString() {
    return delegate.toString();
  }
}
