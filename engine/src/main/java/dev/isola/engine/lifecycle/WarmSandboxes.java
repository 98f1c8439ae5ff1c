package dev.isola.engine.lifecycle;

import dev.isola.engine.selection.Selection;
import java.util.Optional;

/** Sandboxes that were made before anybody asked for them. */
@FunctionalInterface
public interface WarmSandboxes {
  WarmSandboxes NONE = (order, selection) -> Optional.empty();

  /** Hands one out that is what the order would get, to nobody else; empty when there is none. */
  Optional<SandboxRecorder.IntentResult> claim(SandboxRequest order, Selection selection);
}
