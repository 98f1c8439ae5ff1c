package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;

/** One thing to do so that what exists and what is written down are the same. */
public sealed interface ReconcileStep {
  /** It lives and is as written: take it into our hands. */
  record Attach(SandboxEntry entry) implements ReconcileStep {}

  /** It lives, in another state than is written. */
  record CorrectState(SandboxEntry entry, SandboxState state) implements ReconcileStep {}

  /** It was to live, or to be made, and does not: write why, and remove what is left. */
  record MarkLost(SandboxEntry entry, String why) implements ReconcileStep {}

  /** Somebody began to take it down and did not end. */
  record FinishDestroy(SandboxEntry entry) implements ReconcileStep {}

  /** It is kept as a snapshot, and its provider still has something of it. */
  record DiscardSuspended(SandboxEntry entry) implements ReconcileStep {}

  /** It is ours, and it is not written that the provider has it. */
  record RemoveUnknown(String provider, SandboxId id) implements ReconcileStep {}
}
