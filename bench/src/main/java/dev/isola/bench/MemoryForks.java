package dev.isola.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Forks of a sandbox in which an interpreter holds a block of memory.
 *
 * @param forks the number of forks of one fork point
 * @param heldBytes the size of the block
 * @param n the number of fork points
 * @param answered the number of forks that ran a command
 * @param continued the number of forks in which the interpreter answered with the right checksum of
 *     its block
 * @param medianMs from the request of the fork point until a fork answered its first command
 * @param slowestMs the same, of the slowest fork
 * @param frozenMs the median time that the source was frozen
 * @param chargedBytes the median memory charged to the cgroup of a fork after its first command;
 *     empty if it has none
 */
public record MemoryForks(
    String subject,
    int forks,
    long heldBytes,
    int n,
    int answered,
    int continued,
    double medianMs,
    double slowestMs,
    double frozenMs,
    OptionalLong chargedBytes) {
  public static final String BENCHMARK = "fork-memory-10";

  /**
   * Figures that others have published of forks with memory, as of November 2026. They were
   * measured by their authors, on other machines and with other workloads; nothing of it was
   * measured here.
   */
  public static final List<String> PUBLISHED =
      List.of(
          "forkd: 100 virtual machines in 101 ms, 0.12 MiB each; live branch pause 56 ms",
          "Mitos: 27 ms to activate, 437 ms per fork at the client",
          "CubeSandbox: less than 60 ms, less than 5 MB",
          "gVisor with reflinked layers: 163 to 290 ms per fork");

  /** Returns true if every fork answered and continued. */
  public boolean passed() {
    return answered == n * forks && continued == n * forks;
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("benchmark", BENCHMARK);
    json.put("subject", subject);
    json.put("forks", forks);
    json.put("heldBytes", heldBytes);
    json.put("n", n);
    json.put("answered", answered);
    json.put("continued", continued);
    json.put("medianMs", Rounding.of(medianMs, 3));
    json.put("slowestMs", Rounding.of(slowestMs, 3));
    json.put("frozenMs", Rounding.of(frozenMs, 3));
    json.put(
        "chargedBytes",
        chargedBytes.isPresent() ? Optional.of(chargedBytes.getAsLong()) : Optional.empty());
    json.put("publishedByOthers", PUBLISHED);
    return json;
  }
}
