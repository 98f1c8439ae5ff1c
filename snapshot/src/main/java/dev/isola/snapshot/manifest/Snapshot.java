package dev.isola.snapshot.manifest;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is known of a snapshot without its list of files.
 *
 * @param sandbox whose files they were
 * @param provider that ran it, and so the runtime's type
 * @param runtime the provider's version of itself
 * @param architecture as Java names it
 * @param parent the snapshot before it in the same line
 * @param root the folder inside the sandbox that was taken
 * @param files how many there are, folders and links among them
 * @param bytes of content in all
 * @param newBytes of content that the store did not have before
 * @param storedBytes that those take in the store
 * @param checksum SHA-256 over the list of files, which has the checksum of every chunk
 */
public record Snapshot(
    String id,
    Instant createdAt,
    String sandbox,
    String provider,
    String runtime,
    String architecture,
    Map<String, String> tags,
    Optional<String> parent,
    String root,
    List<String> includes,
    List<String> excludes,
    long files,
    long bytes,
    long newBytes,
    long storedBytes,
    String checksum) {
  public Snapshot {
    tags = Map.copyOf(tags);
    includes = List.copyOf(includes);
    excludes = List.copyOf(excludes);
  }
}
