package dev.isola.engine.usage;

import dev.isola.engine.api.CpuLoad;
import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Computes the CPU load of sandboxes from two measurements each. The first of them is at least
 * {@link #SHORTEST} and, while the usage monitor runs, at most one of its intervals old.
 */
public final class UsageSamples {
  /** Over less time, the resolution of the CPU time distorts the result. */
  static final Duration SHORTEST = Duration.ofMillis(200);

  /** The age at which a measurement is replaced by the next one. */
  private static final Duration RENEWED_AFTER = Duration.ofSeconds(1);

  private static final double PERCENT = 100;
  private static final double NANOS_PER_SECOND = 1e9;

  private record Sample(Duration cpuTime, long nanos) {}

  private final Map<SandboxId, Sample> samples = new ConcurrentHashMap<>();

  /**
   * Adds a measurement and returns the load since an earlier one; empty if there is none that is
   * old enough.
   *
   * @param nanos the time of the measurement, of {@link System#nanoTime}
   */
  Optional<CpuLoad> add(SandboxId id, Duration cpuTime, long nanos) {
    Sample now = new Sample(cpuTime, nanos);
    AtomicReference<Optional<CpuLoad>> load = new AtomicReference<>(Optional.empty());
    samples.compute(
        id,
        (any, before) -> {
          // The CPU time starts again when a sandbox boots again.
          if (before == null || before.cpuTime().compareTo(cpuTime) > 0) {
            return now;
          }
          long elapsed = nanos - before.nanos();
          if (elapsed >= SHORTEST.toNanos()) {
            load.set(Optional.of(load(before, now)));
          }
          return elapsed >= RENEWED_AFTER.toNanos() ? now : before;
        });
    return load.get();
  }

  /** Uses floating-point numbers: what a sandbox reports may be any duration. */
  private static CpuLoad load(Sample before, Sample now) {
    double used = seconds(now.cpuTime()) - seconds(before.cpuTime());
    long elapsed = now.nanos() - before.nanos();
    return new CpuLoad(PERCENT * used / (elapsed / NANOS_PER_SECOND), Duration.ofNanos(elapsed));
  }

  private static double seconds(Duration time) {
    return time.getSeconds() + time.getNano() / NANOS_PER_SECOND;
  }

  /** Forgets all other sandboxes. */
  void retain(Collection<SandboxId> ids) {
    samples.keySet().retainAll(ids);
  }
}
