package dev.isola.store;

import java.util.List;
import java.util.Optional;

/**
 * A part of a list.
 *
 * @param next the cursor of the page after this; empty when there was none yet
 */
public record Page(List<SandboxEntry> entries, Optional<String> next) {
  public Page {
    entries = List.copyOf(entries);
  }
}
