package dev.isola.spi;

import java.time.Instant;
import java.util.Map;

/**
 * A resource of this instance that {@link dev.isola.spi.provider.Provider#inventory} found at the
 * backend.
 *
 * @param state the state that the backend reports, or {@link SandboxState#ERROR} for remains of a
 *     sandbox, such as a folder without its process
 * @param details information for the operator, such as process ids and folders; {@link #END_REASON}
 *     tells how the sandbox ended, if the backend knows
 */
public record InventoryItem(
    SandboxId id, SandboxState state, Instant createdAt, Map<String, String> details) {
  /** The key in {@link #details} that tells how a sandbox ended. */
  public static final String END_REASON = "ended";

  public InventoryItem {
    details = Map.copyOf(details);
  }
}
