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
 * One sandbox. All methods may be called from any thread. After it is destroyed every call but
 * {@link #id()} and {@link #state()} throws {@link dev.isola.spi.error.Gone} or {@link
 * dev.isola.spi.error.NotFound}.
 */
public interface Sandbox {
  SandboxId id();

  /** Returns the state as it is known here, without asking the backend. */
  SandboxState state();

  /**
   * Starts a command.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code COMMAND_NOT_FOUND}, {@code
   *     COMMAND_NOT_EXECUTABLE}, {@code USER_NOT_FOUND} or for a working folder that is not there
   */
  Execution start(Command command);

  /**
   * Runs a command to its end. Interrupting the calling thread kills it. A timeout is a result, not
   * an exception.
   */
  default ExecResult run(Command command, OutputLimit limit) {
    return ExecResult.collect(start(command), command, limit);
  }

  default ExecResult run(Command command) {
    return run(command, OutputLimit.DEFAULT);
  }

  FileSystem files();

  /** Returns the capability when the provider declares it, and nothing otherwise. */
  <C extends Capability> Optional<C> as(Class<C> capability);
}
