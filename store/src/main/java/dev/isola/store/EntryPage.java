package dev.isola.store;

import java.util.List;
import java.util.Optional;

/**
 * A part of a list.
 *
 * @param next the cursor of the page after this; empty when there was none yet
 */
public record EntryPage(List<SandboxEntry> entries, Optional<String> next) {
  public EntryPage {
    entries = List.copyOf(entries);
  }
}
