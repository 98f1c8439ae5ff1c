package dev.isola.engine.api.sandbox;

import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.ledger.LedgerViews;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SandboxRecorder.IntentResult;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.util.EnumSet;
import java.util.Set;

/** Answers a create request whose idempotency key is bound to the sandbox of an earlier one. */
record RepeatedCreate(EventLog events, SandboxRecorder recorder, LiveSandboxes liveSandboxes) {
  private static final Set<SandboxState> SETTLED =
      EnumSet.complementOf(EnumSet.of(SandboxState.CREATING));

  /** Waits for the sandbox of the first request. */
  CreateResult await(SandboxRequest request, IntentResult.Existing existing) {
    SandboxId id = existing.id();
    if (!existing.sameRequest()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "the idempotency key was already used for a different request",
              "use a new key for a new request")
          .sandbox(id)
          .exception();
    }
    try {
      Failpoint.CREATE_REPEATED.reach();
      SandboxEntry entry = events.waitForState(id, SETTLED, request.createTimeout());
      if (hasEnded(entry) && !recorder.hasRun(id)) {
        throw wasInterrupted(entry) ? interrupted(entry) : failed(entry);
      }
      return new CreateResult(LedgerViews.of(entry), liveSandboxes.getOrRefusing(entry), true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED, "interrupted while sandbox " + id + " was being created", "")
          .sandbox(id)
          .exception(e);
    }
  }

  private static boolean hasEnded(SandboxEntry entry) {
    return switch (entry.state()) {
      case CREATING, RUNNING, PAUSED, STOPPED -> false;
      case ERROR, TERMINATING, DESTROYED -> true;
    };
  }

  /**
   * Returns whether another server took over a sandbox that was being created, or its own server
   * found it unfinished after it had no lease for a while.
   */
  private static boolean wasInterrupted(SandboxEntry entry) {
    return entry.fence() > 0
        || entry.cause().filter(SandboxRecorder.INTERRUPTED::equals).isPresent();
  }

  /**
   * Returns the error for a sandbox whose server stopped, or lost its lease, while it created the
   * sandbox. The idempotency key has been released.
   */
  static SandboxException interrupted(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the server that was creating sandbox " + entry.id() + " stopped or lost its lease",
            "repeat the request")
        .sandbox(entry.id())
        .exception();
  }

  private static SandboxException failed(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + entry.id() + " failed" + entry.cause().map(why -> ": " + why).orElse(""),
            "create a new sandbox")
        .sandbox(entry.id())
        .exception();
  }
}
