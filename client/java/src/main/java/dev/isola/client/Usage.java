package dev.isola.client;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a sandbox uses.
 *
 * @param cpu processor time since the start
 * @param diskBytes empty where it is not measured
 * @param document everything the server said
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

  static Usage read(Fields fields) {
    return new Usage(
        Duration.ofMillis(fields.whole("cpuMs")),
        fields.whole("memoryBytes"),
        fields.whole("memoryPeakBytes"),
        fields.maybeWhole("diskBytes"),
        fields.maybeWhole("receivedBytes"),
        fields.maybeWhole("sentBytes"),
        fields.whole("processes"),
        Duration.ofMillis(fields.whole("uptimeMs")),
        fields.all());
  }
}
