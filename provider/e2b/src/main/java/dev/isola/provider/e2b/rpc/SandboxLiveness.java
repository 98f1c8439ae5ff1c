package dev.isola.provider.e2b.rpc;

import dev.isola.spi.error.SandboxException;
import java.util.Optional;

/**
 * Tells whether a sandbox is running, which its envd cannot tell itself. An interface, so that this
 * package need not know the sandbox, which uses it.
 */
public interface SandboxLiveness {
  /**
   * Throws if the sandbox is known not to be running.
   *
   * @throws dev.isola.spi.error.Gone if it is destroyed
   * @throws dev.isola.spi.error.Conflict if it is paused
   */
  void requireRunning();

  /** Queries the state and returns why the sandbox is not running; empty if it is. */
  Optional<SandboxException> notRunningReason();
}
