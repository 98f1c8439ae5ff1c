package dev.isola.client;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Description of a sandbox.
 *
 * @param name chosen by the client
 * @param state creating, running, paused, stopped, error, terminating or destroyed
 * @param provider that runs it
 * @param isolation process, container, kernel or vm
 * @param expiresAt empty if it does not expire
 * @param cause why it failed or ended
 * @param document complete JSON object of the server
 */
public record SandboxInfo(
    String id,
    Optional<String> name,
    String state,
    String provider,
    String isolation,
    Instant createdAt,
    Instant lastActivity,
    Optional<Instant> expiresAt,
    Optional<String> cause,
    Map<String, String> tags,
    Map<String, Object> document) {

  static SandboxInfo read(JsonFields fields) {
    return new SandboxInfo(
        fields.text("id"),
        fields.optionalText("name"),
        fields.text("state"),
        fields.text("provider"),
        fields.text("isolation"),
        fields.time("createdAt"),
        fields.time("lastActivity"),
        fields.optionalTime("expiresAt"),
        fields.optionalText("cause"),
        fields.stringMap("tags"),
        fields.all());
  }
}
