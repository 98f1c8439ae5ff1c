package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.EventView;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Usage close to a limit causes one warning. */
class UsageMonitorTest {
  private static final String OFTEN = "usage: {interval: 1s, warn_at: 0.8}";
  private static final long MEGABYTE = 1 << 20;

  @TempDir Path folder;

  private static Usage usage(long memoryMb, OptionalLong diskMb, int processes) {
    return new Usage(
        Duration.ZERO,
        memoryMb * MEGABYTE,
        memoryMb * MEGABYTE,
        diskMb.isPresent() ? OptionalLong.of(diskMb.getAsLong() * MEGABYTE) : diskMb,
        OptionalLong.empty(),
        OptionalLong.empty(),
        processes,
        Duration.ZERO);
  }

  private static List<String> warnings(EngineFixture fixture) {
    return fixture.engine.events().after(0, 1000).stream()
        .filter(event -> event.type().equals("resourceWarning"))
        .map(EventView::data)
        .toList();
  }

  private static double used(EngineFixture fixture, String gauge) {
    return fixture
        .engine
        .metrics()
        .scrape()
        .lines()
        .filter(line -> line.startsWith(gauge + "{provider=\"bubblewrap\"}"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  @Test
  void warningIsRepeatedOnlyAfterUsageDroppedBelowTheThreshold() throws IOException {
    FakeProvider bubblewrap = new FakeProvider("bubblewrap");
    bubblewrap.usage = usage(79, OptionalLong.empty(), 7);
    try (EngineFixture fixture = new EngineFixture(folder, OFTEN, bubblewrap)) {
      ResourceLimits limits =
          ResourceLimits.DEFAULT.withMemoryMb(100).withDiskMb(1000).withProcesses(10);
      SandboxSpec spec = SandboxSpec.builder(new SandboxId("greedy")).limits(limits).build();
      fixture.engine.creator().create(SandboxRequest.of(CreateRequest.of(spec, "bubblewrap")));
      await().until(() -> used(fixture, "isola_usage_processes") == 7);
      assertThat(warnings(fixture)).isEmpty();

      bubblewrap.usage = usage(80, OptionalLong.of(1000), 7);
      await().until(() -> used(fixture, "isola_usage_memory_bytes") == 80 * MEGABYTE);
      assertThat(warnings(fixture))
          .containsExactly(
              "{\"resource\":\"memory\",\"used\":83886080,\"limit\":104857600}",
              "{\"resource\":\"disk\",\"used\":1048576000,\"limit\":1048576000}");

      bubblewrap.usage = usage(81, OptionalLong.of(10), 8);
      await().until(() -> used(fixture, "isola_usage_memory_bytes") == 81 * MEGABYTE);
      assertThat(warnings(fixture))
          .hasSize(3)
          .last()
          .isEqualTo("{\"resource\":\"processes\",\"used\":8,\"limit\":10}");

      bubblewrap.usage = usage(82, OptionalLong.of(900), 8);
      await().until(() -> used(fixture, "isola_usage_memory_bytes") == 82 * MEGABYTE);
      assertThat(warnings(fixture)).hasSize(4).last().asString().contains("disk");
    }
  }
}
