package dev.isola.engine.usage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.engine.api.CpuLoad;
import dev.isola.spi.SandboxId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** S5: the CPU load is computed from two measurements, over a stated interval. */
class UsageSamplesTest {
  private static final SandboxId ID = new SandboxId("a");

  private final UsageSamples samples = new UsageSamples();

  private Optional<CpuLoad> add(long cpuMs, long atMs) {
    return samples.add(ID, Duration.ofMillis(cpuMs), Duration.ofMillis(atMs).toNanos());
  }

  @Test
  void loadNeedsTwoMeasurements() {
    assertThat(add(5000, 0)).isEmpty();
    assertThat(add(5500, 1000)).contains(new CpuLoad(50, Duration.ofSeconds(1)));
    assertThat(add(9500, 3000)).contains(new CpuLoad(200, Duration.ofSeconds(2)));
  }

  @Test
  void shortIntervalsAreExtendedToTheEarlierMeasurement() {
    assertThat(add(0, 0)).isEmpty();
    assertThat(add(100, 100)).as("too close").isEmpty();
    assertThat(add(300, 300)).contains(new CpuLoad(100, Duration.ofMillis(300)));
    assertThat(add(400, 800)).contains(new CpuLoad(50, Duration.ofMillis(800)));
  }

  @Test
  void cpuTimeThatStartsAgainIsNoNegativeLoad() {
    add(5000, 0);
    assertThat(add(10, 1000)).isEmpty();
    assertThat(add(1010, 2000)).contains(new CpuLoad(100, Duration.ofSeconds(1)));
  }

  @Test
  void anyReportedDurationIsAccepted() {
    samples.add(ID, Duration.ofSeconds(Long.MIN_VALUE), 0);
    assertThat(samples.add(ID, Duration.ofSeconds(Long.MAX_VALUE), 1_000_000_000).orElseThrow())
        .satisfies(load -> assertThat(load.percent()).isFinite().isPositive());
  }

  @Test
  void sandboxesThatAreGoneAreForgotten() {
    add(0, 0);
    samples.retain(List.of());
    assertThat(add(1000, 1000)).isEmpty();
  }
}
