package dev.isola.engine.api;

import dev.isola.store.SandboxEntries;
import java.util.List;
import java.util.Optional;

/**
 * A part of a list.
 *
 * @param next the cursor of the page after this; empty when there was none yet
 */
public record SandboxPage(List<SandboxView> entries, Optional<String> next) {
  /** The most entries that can be asked for. */
  public static final int MAX_LIMIT = SandboxEntries.MAX_LIMIT;

  public SandboxPage {
    entries = List.copyOf(entries);
  }
}
