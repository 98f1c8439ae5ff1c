package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension.Reason;

/** One thing to do about a sandbox that is due. */
sealed interface ExpiryStep {
  SandboxEntry entry();

  Reason reason();

  default SandboxId id() {
    return entry().id();
  }

  /** Returns the cause that the ledger records. */
  default String cause() {
    return reason() == Reason.EXPIRED
        ? "its time was up"
        : "it was idle for " + entry().idleTimeout().orElseThrow();
  }

  /** Record activity: a client works with it. */
  record Touch(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Destroy it. */
  record Destroy(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Record that it is suspended: it is paused or stopped already. */
  record MarkSuspended(SandboxEntry entry, Reason reason) implements ExpiryStep {}

  /** Suspend it as {@code action} says. */
  record Suspend(SandboxEntry entry, Reason reason, ExpiryAction action) implements ExpiryStep {}
}
