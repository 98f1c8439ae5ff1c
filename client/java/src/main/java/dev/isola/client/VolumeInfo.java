package dev.isola.client;

import java.time.Instant;
import java.util.Map;

/**
 * Description of a volume.
 *
 * @param provider that stores its files; empty while unknown
 * @param state creating, available or removing
 * @param document complete JSON object of the server
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
