package dev.isola.engine.api;

import dev.isola.store.Sandboxes;
import java.util.List;
import java.util.Optional;

/**
 * A part of a list.
 *
 * @param next the cursor of the page after this; empty when there was none yet
 */
public record Page(List<SandboxView> entries, Optional<String> next) {
  /** The most entries that can be asked for. */
  public static final int MAX_LIMIT = Sandboxes.MAX_LIMIT;

  public Page {
    entries = List.copyOf(entries);
  }
}
