package dev.isola.engine.api;

import dev.isola.store.SandboxEntries;
import java.util.List;
import java.util.Optional;

/**
 * One page of a list of sandboxes.
 *
 * @param next the cursor of the next page; empty if this is the last one
 */
public record SandboxPage(List<SandboxView> entries, Optional<String> next) {
  /** The maximum page size. */
  public static final int MAX_LIMIT = SandboxEntries.MAX_LIMIT;

  public SandboxPage {
    entries = List.copyOf(entries);
  }
}
