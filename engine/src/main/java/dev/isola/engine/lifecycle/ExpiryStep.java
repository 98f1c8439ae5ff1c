package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension.Reason;

/** A step for one due sandbox. */
public sealed interface ExpiryStep {
  SandboxEntry entry();

  Reason reason();

  default SandboxId id() {
    return entry().id();
  }

  /** Returns the cause to record in the ledger. */
  default String cause() {
    return reason() == Reason.EXPIRED
        ? "it expired"
        : "it was idle for " + entry().idleTimeout().orElseThrow();
  }

  /** Records activity, because a client is using the sandbox. */
  record Touch(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Destroys the sandbox. */
  record Destroy(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Records a sandbox that is already paused or stopped as suspended. */
  record MarkSuspended(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Suspends the sandbox as {@code action} specifies. */
  record Suspend(SandboxEntry entry, Reason reason, ExpiryAction action) implements ExpiryStep {}
}
