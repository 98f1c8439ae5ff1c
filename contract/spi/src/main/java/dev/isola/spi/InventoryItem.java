package dev.isola.spi;

import java.time.Instant;
import java.util.Map;

/**
 * Something of this instance that exists at a backend.
 *
 * @param state as the backend shows it; {@link SandboxState#ERROR} for remains, such as a folder
 *     without its process
 * @param details for a person: process ids, folders; under {@link #END_REASON} how it ended, where
 *     the backend says so
 */
public record InventoryItem(
    SandboxId id, SandboxState state, Instant createdAt, Map<String, String> details) {
  /** The detail that tells how something ended. */
  public static final String END_REASON = "ended";

  public InventoryItem {
    details = Map.copyOf(details);
  }
}
