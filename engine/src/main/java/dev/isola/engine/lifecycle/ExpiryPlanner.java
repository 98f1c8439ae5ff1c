package dev.isola.engine.lifecycle;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.SandboxId;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Decides what to do with expired and idle sandboxes. Pure. */
public final class ExpiryPlanner {
  private ExpiryPlanner() {}

  /**
   * Returns one step for each due sandbox.
   *
   * @param inUse the sandboxes that a client is using; they are not idle even without I/O
   */
  public static List<ExpiryStep> plan(
      List<SandboxEntry> entries, Instant now, Set<SandboxId> inUse) {
    return entries.stream()
        .flatMap(entry -> step(entry, now, inUse.contains(entry.id())).stream())
        .toList();
  }

  private static Optional<ExpiryStep> step(SandboxEntry entry, Instant now, boolean inUse) {
    if (entry.dueAt().filter(due -> !due.isAfter(now)).isEmpty()) {
      return Optional.empty();
    }
    Reason reason =
        entry.expiresAt().filter(end -> !end.isAfter(now)).isPresent()
            ? Reason.EXPIRED
            : Reason.IDLE;
    if (reason == Reason.IDLE && inUse) {
      return Optional.of(new ExpiryStep.Touch(entry, reason));
    }
    ExpiryAction action = reason == Reason.EXPIRED ? entry.whenExpired() : entry.whenIdle();
    if (action == ExpiryAction.DESTROY || entry.pooled()) {
      return Optional.of(new ExpiryStep.Destroy(entry, reason));
    }
    return switch (entry.state()) {
      case RUNNING -> Optional.of(new ExpiryStep.Suspend(entry, reason, action));
      case PAUSED, STOPPED -> Optional.of(new ExpiryStep.MarkSuspended(entry, reason));
      case CREATING, ERROR, TERMINATING, DESTROYED -> Optional.empty(); // never due
    };
  }
}
