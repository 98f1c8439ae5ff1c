package dev.isola.testing.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The positive control of the kit: the group that a planted fault names must detect it. {@link
 * TestProviderConformanceTest} shows that no check fails without a fault.
 */
@Tag("all")
class PlantedFaultsTest {
  /**
   * Groups without a planted fault. {@code Exhaustion} would exhaust terminals and inotify
   * instances of the test machine. The test provider has no volumes; {@code PlantedVolumeFaultTest}
   * plants a fault for {@code Volumes} in bubblewrap, {@code PlantedEgressFaultTest} several for
   * {@code Egress}. It cannot save processes; {@link FakeFaultyMemoryForkingTest} shows faults of
   * forks of memory.
   */
  private static final Set<String> WITHOUT =
      Set.of("Exhaustion", "Volumes", "Egress", "MemoryForking", "MemoryForkLifecycle");

  @TempDir Path data;

  @ParameterizedTest
  @EnumSource
  void plantedFaultIsDetected(PlantedFault fault, TestReporter reporter) {
    assumeTrue(
        fault != PlantedFault.PROCESSES_NOT_ENFORCED || Boolean.getBoolean("isola.long"),
        "NOT RUN: only with ./check --long, because it takes a minute");
    Map<String, String> settings = Map.of(PlantedFaults.SETTING, fault.name());
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new TestProviderFactory(),
            new ProviderConfig(settings),
            new InstanceId("planted"),
            data);
    List<CheckCase> checks =
        ConformanceKit.checks(fault.group()).stream()
            .filter(check -> fault.allows(check.id()))
            .toList();
    try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
      Optional<CheckResult> noticed =
          checks.stream()
              .map(runner::run)
              .filter(result -> result.outcome() == Outcome.FAILED)
              .findFirst();
      assertThat(noticed)
          .as("the check of " + fault.group() + " that notices " + fault)
          .isPresent();
      reporter.publishEntry(fault.name(), noticed.get().id() + ": " + noticed.get().reason());
    }
  }

  @Test
  void everyGroupHasAPlantedFault() {
    List<String> covered =
        Arrays.stream(PlantedFault.values()).map(PlantedFault::group).distinct().toList();
    assertThat(Stream.concat(covered.stream(), WITHOUT.stream()))
        .containsExactlyInAnyOrderElementsOf(ConformanceKit.groups());
  }
}
