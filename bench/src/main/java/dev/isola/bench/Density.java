package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The cost of many idle sandboxes.
 *
 * @param count the number of sandboxes
 * @param answered the number of sandboxes that ran a command successfully at the end
 * @param processes the median number of processes of a sandbox
 * @param privateBytes the median private memory of all processes of a sandbox
 * @param privateBytesMost the private memory of the largest sandbox
 * @param chargedBytes the median memory charged to the cgroup of a sandbox; empty if it has none
 * @param serverBytes the growth of this process's private memory per sandbox; the JVM allocates and
 *     returns memory in large blocks, so the value means little for few sandboxes
 * @param heapBytes the growth of the live heap of this process per sandbox
 * @param createMs the median creation time while the other sandboxes exist
 * @param left what remained after all sandboxes were destroyed
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

  /** Returns true if all sandboxes responded and nothing remained of them. */
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
