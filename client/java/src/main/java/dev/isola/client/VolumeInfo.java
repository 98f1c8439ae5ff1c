package dev.isola.client;

import java.time.Instant;
import java.util.Map;

/**
 * A volume as the server describes it.
 *
 * @param provider that has its files; empty while that is not known
 * @param state creating, available or removing
 * @param document everything the server said
 */
public record VolumeInfo(
    String id,
    String name,
    String provider,
    String state,
    Instant createdAt,
    Map<String, Object> document) {

  static VolumeInfo read(JsonFields fields) {
    return new VolumeInfo(
        fields.text("id"),
        fields.text("name"),
        fields.text("provider"),
        fields.text("state"),
        fields.time("createdAt"),
        fields.all());
  }
}
