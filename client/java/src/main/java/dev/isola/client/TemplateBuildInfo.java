package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A build of a template as the server describes it.
 *
 * @param template the id of the template
 * @param state waiting, running, ready or failed
 * @param reason why it failed; empty text unless it did
 * @param failedStep the number of the step that failed, from 1 on
 * @param document everything the server said
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

  /** Returns whether it has succeeded. */
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
