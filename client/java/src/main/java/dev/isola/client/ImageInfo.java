package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Description of an image.
 *
 * @param name to use in a spec
 * @param source such as the reference it was pulled from
 * @param size of its files, in bytes
 * @param user default user of commands
 * @param workdir default working folder of commands
 * @param document complete JSON object of the server
 */
public record ImageInfo(
    String name,
    Instant createdAt,
    String source,
    String digest,
    long size,
    String architecture,
    Optional<String> user,
    Optional<String> workdir,
    Map<String, Object> document) {

  static ImageInfo read(JsonFields fields) {
    return new ImageInfo(
        fields.text("name"),
        fields.time("createdAt"),
        fields.text("source"),
        fields.text("digest"),
        fields.integer("size"),
        fields.text("architecture"),
        fields.optionalText("user"),
        fields.optionalText("workdir"),
        fields.all());
  }
}
