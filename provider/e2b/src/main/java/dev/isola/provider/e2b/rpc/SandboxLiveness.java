package dev.isola.provider.e2b.rpc;

import dev.isola.spi.error.SandboxException;
import java.util.Optional;

/** Knows of a sandbox what envd in it cannot say. */
public interface SandboxLiveness {
  /**
   * Refuses a call to a sandbox that is known not to run.
   *
   * @throws dev.isola.spi.error.Gone when it is destroyed
   * @throws dev.isola.spi.error.Conflict when it is paused
   */
  void requireRunning();

  /** Asks whether it runs, and returns the reason where it does not. */
  Optional<SandboxException> notRunningReason();
}
