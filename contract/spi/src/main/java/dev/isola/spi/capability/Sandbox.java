package dev.isola.spi.capability;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import java.util.Optional;

/**
 * A sandbox. All methods may be called from any thread. After the sandbox was destroyed, every
 * method except {@link #id()} and {@link #state()} throws {@link dev.isola.spi.error.Gone} or
 * {@link dev.isola.spi.error.NotFound}.
 */
public interface Sandbox {
  SandboxId id();

  /** Returns the last known state, without asking the backend. */
  SandboxState state();

  /**
   * Starts a command and returns without waiting for its end.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code COMMAND_NOT_FOUND}, {@code
   *     COMMAND_NOT_EXECUTABLE} or {@code USER_NOT_FOUND}, or if the working folder does not exist
   */
  Execution start(Command command);

  /**
   * Runs a command and waits for its end. Interrupting the calling thread kills the command. A
   * timeout is a result, not an exception.
   */
  default ExecResult run(Command command, OutputLimit limit) {
    return ExecResult.collect(start(command), command, limit);
  }

  default ExecResult run(Command command) {
    return run(command, OutputLimit.DEFAULT);
  }

  FileSystem files();

  /** Returns the capability if the provider declares it, otherwise empty. */
  <C extends Capability> Optional<C> as(Class<C> capability);

  /**
   * Returns access to the connections that guest processes make to other hosts; present in network
   * mode {@code filtered} only.
   */
  default Optional<EgressAccess> egress() {
    return Optional.empty();
  }

  /** Returns access to the guest protocol; empty if the sandbox has no guest agent. */
  default Optional<GuestProtocolAccess> guestProtocol() {
    return Optional.empty();
  }
}
