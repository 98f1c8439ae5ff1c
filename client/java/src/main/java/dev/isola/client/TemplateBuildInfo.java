package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Description of a template build.
 *
 * @param template id of the template
 * @param state waiting, running, ready or failed
 * @param reason why it failed; otherwise empty
 * @param failedStep number of the failed step, starting at 1
 * @param document complete JSON object of the server
 */
public record TemplateBuildInfo(
    String id,
    String template,
    String state,
    String reason,
    Optional<Long> failedStep,
    Instant createdAt,
    Instant updatedAt,
    Map<String, Object> document) {

  /** Returns whether the build succeeded. */
  public boolean isReady() {
    return state.equals("ready");
  }

  static TemplateBuildInfo read(JsonFields fields) {
    return new TemplateBuildInfo(
        fields.text("id"),
        fields.text("template"),
        fields.text("state"),
        fields.optionalText("reason").orElse(""),
        fields.optionalInteger("failedStep"),
        fields.time("createdAt"),
        fields.time("updatedAt"),
        fields.all());
  }
}
