package dev.isola.spi;

import java.time.Instant;
import java.util.Map;

/**
 * Something of this instance that exists at a backend.
 *
 * @param state as the backend shows it; {@link SandboxState#ERROR} for remains, such as a folder
 *     without its process
 * @param details for a person: process ids, folders; under {@link #ENDED} how it ended, where the
 *     backend says so
 */
public record Sighting(
    SandboxId id, SandboxState state, Instant createdAt, Map<String, String> details) {
  /** The detail that tells how something ended. */
  public static final String ENDED = "ended";

  public Sighting {
    details = Map.copyOf(details);
  }
}
