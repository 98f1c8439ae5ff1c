package dev.isola.provider.e2b;

import dev.isola.provider.e2b.exec.SandboxContext;
import dev.isola.provider.e2b.exec.ScriptRunner;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.ErrorCode;
import java.time.Duration;
import java.util.Arrays;
import java.util.OptionalLong;

/** The resource usage of a virtual machine, which is that of its sandbox. */
final class MachineUsage implements UsageReporting {
  /**
   * Prints CPU ticks, uptime, used memory in KiB, processes, used disk bytes, and ticks per second.
   */
  private static final String MEASURE =
      """
      read -r cpu user nice system idle wait irq soft steal rest </proc/stat
      read -r up rest </proc/uptime
      while read -r name value unit; do
        case $name in MemTotal:) total=$value ;; MemAvailable:) free=$value ;; esac
      done </proc/meminfo
      set -- /proc/[0-9]*
      n=$#
      set -- $(df -B1 --output=used / | tail -n 1)
      echo "$((user + nice + system + irq + soft)) ${up%.*} $((total - free)) $n $1 $(getconf CLK_TCK)"
      """;

  private final SandboxContext context;
  private long peak;

  MachineUsage(SandboxContext context) {
    this.context = context;
  }

  @Override
  public synchronized Usage usage() {
    ScriptRunner.ScriptResult result = new ScriptRunner(context).run(MEASURE);
    long[] words =
        Arrays.stream(result.text().strip().split(" "))
            .filter(word -> word.matches("[0-9]{1,18}"))
            .mapToLong(Long::parseLong)
            .toArray();
    if (!result.succeeded() || words.length != 6) {
      throw context
          .fault(ErrorCode.PROVIDER_UNAVAILABLE, "the sandbox does not report its usage", "retry")
          .exception();
    }
    long memory = words[2] * 1024;
    peak = Math.max(peak, memory);
    return new Usage(
        Duration.ofMillis(words[0] * 1000 / Math.max(1, words[5])),
        memory,
        peak,
        OptionalLong.of(words[4]),
        OptionalLong.empty(),
        OptionalLong.empty(),
        (int) words[3],
        Duration.ofSeconds(words[1]));
  }
}
