package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;

/** The agent's usage, corrected by the engine's statistics of the whole container. */
record EngineUsage(EngineApi engine, String container, UsageReporting agentUsage)
    implements UsageReporting {
  @Override
  public Usage usage() {
    Usage seen = agentUsage.usage();
    Optional<JsonValue> engineStats = stats();
    if (engineStats.isEmpty()) {
      return seen;
    }
    JsonValue memory = engineStats.get().at("memory_stats");
    long now = memory.number("usage");
    long most = memory.number("max_usage"); // Engines on cgroup v2 may omit it.
    long cpu = engineStats.get().number("cpu_stats", "cpu_usage", "total_usage");
    return new Usage(
        cpu > 0 ? Duration.ofNanos(cpu) : seen.cpuTime(),
        now > 0 ? now : seen.memoryBytes(),
        Math.max(now, Math.max(most, seen.memoryPeakBytes())),
        seen.diskBytes(),
        seen.receivedBytes(),
        seen.sentBytes(),
        seen.processes(),
        seen.uptime());
  }

  private Optional<JsonValue> stats() {
    try {
      return engine.stats(container);
    } catch (SandboxException engineIsAway) {
      return Optional.empty();
    }
  }
}
