package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A template as the server describes it.
 *
 * @param image its image; empty until a build has succeeded
 * @param build the newest build
 * @param document everything the server said
 */
public record TemplateInfo(
    String id,
    String name,
    Optional<String> image,
    String build,
    Instant createdAt,
    Instant updatedAt,
    Map<String, Object> document) {

  /** Returns whether sandboxes can be made from it. */
  public boolean isBuilt() {
    return image.isPresent();
  }

  static TemplateInfo read(JsonFields fields) {
    return new TemplateInfo(
        fields.text("id"),
        fields.text("name"),
        fields.optionalText("image"),
        fields.text("build"),
        fields.time("createdAt"),
        fields.time("updatedAt"),
        fields.all());
  }
}
