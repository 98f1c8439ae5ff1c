package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What sandboxes cost that are there at once and do nothing.
 *
 * @param count how many there were
 * @param answered how many answered at the end, each with the result of a command
 * @param processes of one sandbox, the median
 * @param privateBytes of all processes of one sandbox together: what they share with nobody
 * @param privateBytesMost of the largest
 * @param chargedBytes what the kernel counts for one sandbox's control group, the median; empty
 *     where it has none
 * @param serverBytes by how much this process grew for each, in private memory; the JVM takes and
 *     returns memory in large pieces, so this says little where they are few
 * @param heapBytes what this process keeps for each on its heap once garbage is collected
 * @param createMs the median of making one with the others there
 * @param left what was still there after all of them had been destroyed, in words
 */
public record Density(
    String subject,
    int count,
    int answered,
    double processes,
    long privateBytes,
    long privateBytesMost,
    OptionalLong chargedBytes,
    long serverBytes,
    long heapBytes,
    double createMs,
    double destroyMs,
    List<String> left) {
  public Density {
    left = List.copyOf(left);
  }

  /** Returns true when all answered and nothing was left of any. */
  public boolean passed() {
    return answered == count && left.isEmpty();
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("subject", subject);
    json.put("count", count);
    json.put("answered", answered);
    json.put("processes", Rounding.of(processes, 1));
    json.put("privateBytes", privateBytes);
    json.put("privateBytesMost", privateBytesMost);
    json.put(
        "chargedBytes",
        chargedBytes.isPresent() ? Optional.of(chargedBytes.getAsLong()) : Optional.empty());
    json.put("serverBytes", serverBytes);
    json.put("heapBytes", heapBytes);
    json.put("createMs", Rounding.of(createMs, 3));
    json.put("destroyMs", Rounding.of(destroyMs, 3));
    json.put("left", left);
    return json;
  }
}
