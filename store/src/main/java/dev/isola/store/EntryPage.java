package dev.isola.store;

import java.util.List;
import java.util.Optional;

/**
 * A page of sandbox entries.
 *
 * @param next the cursor of the next page; empty on the last page
 */
public record EntryPage(List<SandboxEntry> entries, Optional<String> next) {
  public EntryPage {
    entries = List.copyOf(entries);
  }
}
