package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/**
 * Reason why a connection is closed.
 *
 * @param message explains it to the operator
 */
record CloseReason(Kind kind, String message) {
  enum Kind {
    /** Closed on purpose by this side. */
    CLOSED,
    /** The channel ended or failed. */
    DROPPED,
    /** The agent hung up as requested, because the sandbox is held. Nothing sent before is lost. */
    HELD,
    /** The agent did not answer. */
    SILENT,
    /** The agent violated the protocol. */
    VIOLATION,
    /** Another server took over. */
    REPLACED,
    /** The agent announced its end. */
    GONE
  }

  /** Returns true when a pending call should try to reconnect. */
  boolean isRecoverable() {
    return switch (kind) {
      case DROPPED, HELD, SILENT -> true;
      case CLOSED, VIOLATION, REPLACED, GONE -> false;
    };
  }

  /** Returns the exception for a caller whose reply was lost. */
  SandboxException exception(SandboxId id, boolean mutating) {
    if (kind == Kind.GONE) {
      return gone(id, message);
    }
    if (mutating) {
      return Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the reply was lost: " + message,
              "check the sandbox before retrying; the operation may have taken effect")
          .sandbox(id)
          .exception();
    }
    return unreachable(id, message);
  }

  static SandboxException gone(SandboxId id, String reason) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id + " is gone: " + reason,
            "create a new sandbox")
        .sandbox(id)
        .exception();
  }

  static SandboxException unreachable(SandboxId id, String reason) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the agent of sandbox " + id + " cannot be reached: " + reason,
            "try again; if the problem persists, destroy the sandbox")
        .sandbox(id)
        .exception();
  }

  static SandboxException cancelled(SandboxId id, String operation) {
    return Fault.of(
            ErrorCode.CANCELLED,
            operation + " was interrupted",
            "retry if the cancellation was not intended")
        .sandbox(id)
        .exception();
  }
}
