package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Description of a template.
 *
 * @param image empty until a build succeeds
 * @param build id of the newest build
 * @param document complete JSON object of the server
 */
public record TemplateInfo(
    String id,
    String name,
    Optional<String> image,
    String build,
    Instant createdAt,
    Instant updatedAt,
    Map<String, Object> document) {

  /** Returns whether sandboxes can be created from it. */
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
