package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A snapshot as the server describes it.
 *
 * @param parent the one before it, of which only the differences were read
 * @param document everything the server said
 */
public record SnapshotInfo(
    String id,
    Instant createdAt,
    String sandbox,
    String provider,
    Map<String, String> tags,
    Optional<String> parent,
    long files,
    long bytes,
    long storedBytes,
    String checksum,
    Map<String, Object> document) {

  static SnapshotInfo read(JsonFields fields) {
    return new SnapshotInfo(
        fields.text("id"),
        fields.time("createdAt"),
        fields.text("sandbox"),
        fields.text("provider"),
        fields.stringMap("tags"),
        fields.optionalText("parent"),
        fields.integer("files"),
        fields.integer("bytes"),
        fields.integer("storedBytes"),
        fields.text("checksum"),
        fields.all());
  }

  /** Returns what a spec names to be made from this snapshot. */
  public String image() {
    return "snapshot:" + id;
  }
}
