package dev.isola.engine.lifecycle;

import dev.isola.document.request.Lifecycle;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Reads and changes the suspension of a ledger entry. The idle timeout of a suspended sandbox is
 * inactive. A sandbox that was suspended because it expired has no expiry.
 */
public final class SuspensionState {
  private SuspensionState() {}

  /** Returns whether a sandbox is suspended. */
  public static boolean isSuspended(SandboxEntry entry) {
    return entry.suspension().isPresent();
  }

  /** Returns whether any request resumes the sandbox. An explicit {@code resume} always does. */
  public static boolean resumesOnRequest(SandboxEntry entry) {
    return entry.suspension().isPresent()
        && (entry.suspension().get().reason() == Suspension.Reason.IDLE
            || SpecCodec.decode(entry.spec(), entry.id()).lifecycle().autoResume());
  }

  /** Returns the snapshot with the files of a sandbox that is suspended by snapshot. */
  public static Optional<String> snapshot(SandboxEntry entry) {
    return entry.suspension().flatMap(Suspension::snapshot);
  }

  /** Returns the entry with a suspension added. */
  static SandboxEntry suspended(SandboxEntry entry, Suspension.Reason reason) {
    SandboxEntry.Builder suspended =
        entry.toBuilder()
            .idleTimeout(null)
            .suspension(
                new Suspension(
                    reason, entry.idleTimeout().or(() -> idleTimeout(entry)), Optional.empty()));
    if (reason == Suspension.Reason.EXPIRED) {
      suspended.expiresAt(null);
    }
    return suspended.build();
  }

  /**
   * Returns the entry of a sandbox whose suspension failed. It keeps running and is due again after
   * its idle timeout, or after {@code retry} if it has expired.
   */
  static SandboxEntry failed(SandboxEntry entry, Instant now, Duration retry) {
    boolean expired =
        entry.suspension().map(one -> one.reason() == Suspension.Reason.EXPIRED).orElse(false);
    SandboxEntry running = resumed(entry, now);
    return expired ? running.toBuilder().expiresAt(now.plus(retry)).build() : running;
  }

  private static Optional<Duration> idleTimeout(SandboxEntry entry) {
    return entry.suspension().flatMap(Suspension::idleTimeout);
  }

  /** Returns the entry of a suspended sandbox with its snapshot. */
  static SandboxEntry withSnapshot(SandboxEntry entry, String snapshot) {
    return entry.toBuilder()
        .suspension(entry.suspension().orElseThrow().withSnapshot(snapshot))
        .build();
  }

  /** Returns the entry of a suspended sandbox that was resumed. */
  public static SandboxEntry resumed(SandboxEntry entry, Instant now) {
    if (entry.suspension().isEmpty()) {
      return entry;
    }
    Suspension before = entry.suspension().get();
    SandboxEntry.Builder resumed = entry.toBuilder().suspension(null).lastActivity(now);
    before.idleTimeout().ifPresent(resumed::idleTimeout);
    if (before.reason() == Suspension.Reason.EXPIRED) {
      Lifecycle lifecycle = SpecCodec.decode(entry.spec(), entry.id()).lifecycle();
      resumed.expiresAt(lifecycle.ttl().map(now::plus).orElse(null));
    }
    return resumed.build();
  }
}
