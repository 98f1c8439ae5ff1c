package dev.isola.engine.lifecycle;

import dev.isola.engine.selection.Selection;
import java.util.Optional;

/** Sandboxes created ahead of requests. */
@FunctionalInterface
public interface WarmSandboxes {
  WarmSandboxes NONE = (request, selection) -> Optional.empty();

  /** Claims a sandbox that matches the request exclusively; empty if there is none. */
  Optional<SandboxRecorder.IntentResult> claim(SandboxRequest request, Selection selection);

  /** Returns whether {@link #claim} would find a sandbox now. */
  default boolean isReady(SandboxRequest request, Selection selection) {
    return false;
  }
}
