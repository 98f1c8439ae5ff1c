package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Description of a snapshot.
 *
 * @param kind {@code filesystem} or {@code memory}
 * @param parent snapshot that this one is incremental to
 * @param document complete JSON object of the server
 */
public record SnapshotInfo(
    String id,
    Instant createdAt,
    String sandbox,
    String provider,
    String kind,
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
        fields.text("kind"),
        fields.stringMap("tags"),
        fields.optionalText("parent"),
        fields.integer("files"),
        fields.integer("bytes"),
        fields.integer("storedBytes"),
        fields.text("checksum"),
        fields.all());
  }

  /** Returns the image name that restores this snapshot. */
  public String image() {
    return "snapshot:" + id;
  }
}
