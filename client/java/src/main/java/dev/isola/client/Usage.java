package dev.isola.client;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Resource usage of a sandbox.
 *
 * @param cpu CPU time since the start
 * @param diskBytes empty if not measured
 * @param document complete JSON object of the server
 */
public record Usage(
    Duration cpu,
    long memoryBytes,
    long memoryPeakBytes,
    Optional<Long> diskBytes,
    Optional<Long> receivedBytes,
    Optional<Long> sentBytes,
    long processes,
    Duration uptime,
    Map<String, Object> document) {

  static Usage read(JsonFields fields) {
    return new Usage(
        Duration.ofMillis(fields.integer("cpuMs")),
        fields.integer("memoryBytes"),
        fields.integer("memoryPeakBytes"),
        fields.optionalInteger("diskBytes"),
        fields.optionalInteger("receivedBytes"),
        fields.optionalInteger("sentBytes"),
        fields.integer("processes"),
        Duration.ofMillis(fields.integer("uptimeMs")),
        fields.all());
  }
}
