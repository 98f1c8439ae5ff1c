package dev.isola.store;

import dev.isola.spi.SandboxId;

/** What came of claiming an idempotency key. */
public sealed interface KeyClaim {

  /** The key was free and is bound now. */
  record New() implements KeyClaim {}

  /**
   * The key was bound before.
   *
   * @param sandbox the one it is bound to
   * @param sameRequest whether it was bound by a request with the same hash
   */
  record Existing(SandboxId sandbox, boolean sameRequest) implements KeyClaim {}
}
