package dev.isola.engine.lifecycle;

import dev.isola.document.request.Lifecycle;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Reads and changes the suspension of an entry. While a sandbox is suspended its idle timeout is
 * not in effect, nor its expiry when that was the reason: it is suspended with no expiry.
 */
public final class SuspensionState {
  private SuspensionState() {}

  /** Tells whether a sandbox is suspended. */
  public static boolean isSuspended(SandboxEntry entry) {
    return entry.suspension().isPresent();
  }

  /** Tells whether any request resumes a suspended sandbox; {@code resume} does in any case. */
  public static boolean resumesOnRequest(SandboxEntry entry) {
    return entry.suspension().isPresent()
        && (entry.suspension().get().reason() == Suspension.Reason.IDLE
            || SpecCodec.decode(entry.spec(), entry.id()).lifecycle().autoResume());
  }

  /** Returns the snapshot with the files of a sandbox that is not at its provider. */
  public static Optional<String> snapshot(SandboxEntry entry) {
    return entry.suspension().flatMap(Suspension::snapshot);
  }

  /** Returns the entry of a sandbox that becomes suspended. */
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
   * Returns the entry of a sandbox whose suspension failed: it keeps running, and is due again
   * after another idle timeout, or after {@code retry} when its time is up.
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

  /** Returns the entry of a suspended sandbox whose files are in a snapshot. */
  static SandboxEntry withSnapshot(SandboxEntry entry, String snapshot) {
    return entry.toBuilder()
        .suspension(entry.suspension().orElseThrow().withSnapshot(snapshot))
        .build();
  }

  /** Returns the entry of a sandbox that was suspended and runs again. */
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
