package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;

/** One thing to do so that what exists and what is written down are the same. */
public sealed interface Step {
  /** It lives and is as written: take it into our hands. */
  record Attach(SandboxEntry entry) implements Step {}

  /** It lives, in another state than is written. */
  record Correct(SandboxEntry entry, SandboxState state) implements Step {}

  /** It was to live, or to be made, and does not: write why, and remove what is left. */
  record Lose(SandboxEntry entry, String why) implements Step {}

  /** Somebody began to take it down and did not end. */
  record Finish(SandboxEntry entry) implements Step {}

  /** It is kept as a snapshot, and its provider still has something of it. */
  record Discard(SandboxEntry entry) implements Step {}

  /** It is ours, and it is not written that the provider has it. */
  record Remove(String provider, SandboxId id) implements Step {}
}
