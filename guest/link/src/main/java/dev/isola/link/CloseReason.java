package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/**
 * Why a connection is closed.
 *
 * @param why a sentence for a person
 */
record CloseReason(Kind kind, String message) {
  enum Kind {
    /** By us, on purpose. */
    CLOSED,
    /** The channel ended or failed. */
    DROPPED,
    /** The agent stayed silent. */
    SILENT,
    /** The agent broke the protocol. */
    VIOLATION,
    /** Another server took over. */
    REPLACED,
    /** The agent said that it ends. */
    GONE
  }

  /** Returns true when connecting again is worth a try on behalf of a call that is under way. */
  boolean isRecoverable() {
    return switch (kind) {
      case DROPPED, SILENT -> true;
      case CLOSED, VIOLATION, REPLACED, GONE -> false;
    };
  }

  /** Returns what a caller sees whose answer will not come. */
  SandboxException exception(SandboxId id, boolean changes) {
    if (kind == Kind.GONE) {
      return gone(id, message);
    }
    if (changes) {
      return Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the answer was lost: " + message,
              "look at the sandbox before repeating it; it may have happened")
          .sandbox(id)
          .exception();
    }
    return unreachable(id, message);
  }

  static SandboxException gone(SandboxId id, String why) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + id + " is gone: " + why,
            "create a new sandbox")
        .sandbox(id)
        .exception();
  }

  static SandboxException unreachable(SandboxId id, String why) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the agent of sandbox " + id + " cannot be reached: " + why,
            "try again; if it stays, destroy the sandbox")
        .sandbox(id)
        .exception();
  }

  static SandboxException cancelled(SandboxId id, String what) {
    return Fault.of(ErrorCode.CANCELLED, what + " was interrupted", "repeat it if it was not meant")
        .sandbox(id)
        .exception();
  }
}
