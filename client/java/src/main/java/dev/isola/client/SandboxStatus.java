package dev.isola.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Condition of a sandbox at one moment.
 *
 * @param state creating, running, paused, stopped, error, terminating or destroyed
 * @param health healthy if it is running and answered the server; unhealthy if it failed or did not
 *     answer; unknown if it is not running or its provider cannot probe it
 * @param reason why it is not healthy
 * @param usage empty if it is not running or its provider does not measure
 * @param cpu empty if there is no usage
 * @param containerId id of its container at a container engine; empty if it has none
 * @param errors latest failures since the server started, oldest first
 * @param document complete JSON object of the server
 */
public record SandboxStatus(
    String id,
    String provider,
    String state,
    String health,
    Optional<String> reason,
    Instant createdAt,
    Instant lastActivity,
    Optional<Usage> usage,
    Optional<CpuLoad> cpu,
    Optional<String> containerId,
    List<RecentError> errors,
    Map<String, Object> document) {

  /**
   * CPU usage between two measurements of the server.
   *
   * @param percent of one processor: 200 if two processors are fully used
   */
  public record CpuLoad(double percent, Duration interval) {}

  /**
   * A failure.
   *
   * @param code stable error code
   * @param operation that failed
   * @param message {@code ***} for a key with scope read
   */
  public record RecentError(Instant at, String code, String operation, String message) {}

  public SandboxStatus {
    errors = List.copyOf(errors);
  }

  public boolean isHealthy() {
    return health.equals("healthy");
  }

  static SandboxStatus read(JsonFields fields) {
    JsonFields usage = fields.object("usage");
    return new SandboxStatus(
        fields.text("id"),
        fields.text("provider"),
        fields.text("state"),
        fields.text("health"),
        fields.optionalText("reason"),
        fields.time("createdAt"),
        fields.time("lastActivity"),
        usage.all().isEmpty() ? Optional.empty() : Optional.of(Usage.read(usage)),
        usage
            .optionalDecimal("cpuPercent")
            .map(
                percent -> new CpuLoad(percent, Duration.ofMillis(usage.integer("cpuIntervalMs")))),
        fields.optionalText("containerId"),
        fields.list("errors").stream()
            .map(
                error ->
                    new RecentError(
                        error.time("at"),
                        error.text("code"),
                        error.text("operation"),
                        error.text("message")))
            .toList(),
        fields.all());
  }
}
