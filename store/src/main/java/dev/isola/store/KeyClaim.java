package dev.isola.store;

import dev.isola.spi.SandboxId;

/** The result of claiming an idempotency key. */
public sealed interface KeyClaim {

  /** The key was free and is now bound. */
  record New() implements KeyClaim {}

  /**
   * The key was already bound.
   *
   * @param sandbox the sandbox that the key is bound to
   * @param sameRequest whether the earlier request had the same hash
   */
  record Existing(SandboxId sandbox, boolean sameRequest) implements KeyClaim {}
}
