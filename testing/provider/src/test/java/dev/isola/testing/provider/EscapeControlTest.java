package dev.isola.testing.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

/**
 * The positive control of the escape checks: in a sandbox that is only a host process, every check
 * fails or cannot run. A check that passes there would pass anywhere.
 */
@Tag("all")
class EscapeControlTest {
  /**
   * Probes that fail even without a container: the agent closes descriptors, passes on no terminal
   * and cannot be traced. Their control on the bare host is enough.
   */
  private static final Set<String> NOT_OPENED =
      Set.of(
          "Escape.noDescriptorIsInherited",
          "Escape.noTerminalIsInherited",
          "Escape.memoryOfTheAgentIsNotRead",
          "Escape.agentIsNotTraced",
          "Escape.filesOfTheAgentAreNotRead",
          "Escape.programOfTheAgentIsNotChanged",
          "Escape.setuidFilesAreNotTheHostsRoot");

  /** Signals process 1 of the pid namespace, which is that of the machine here. */
  private static final String NOT_RUN = "Escape.agentIsNotKilled";

  @TempDir Path data;

  @Test
  void noEscapeCheckPassesOnTheBareHost(TestReporter reporter) {
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            new TestProviderFactory(),
            new ProviderConfig(
                Map.of(PlantedFaults.SETTING, PlantedFault.RUNS_ON_THE_BARE_HOST.name())),
            new InstanceId("fallen"),
            data);
    try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
      List<CheckResult> results =
          ConformanceKit.checks("Escape").stream()
              .filter(check -> !check.id().equals(NOT_RUN))
              .map(runner::run)
              .toList();
      results.forEach(
          result ->
              reporter.publishEntry(
                  result.id(), result.outcome().wireName() + ": " + result.reason()));
      assertThat(results)
          .filteredOn(result -> !NOT_OPENED.contains(result.id()))
          .filteredOn(result -> result.outcome() == Outcome.PASSED)
          .as("checks that pass without isolation")
          .isEmpty();
      assertThat(results)
          .filteredOn(result -> result.outcome() == Outcome.FAILED)
          .as("checks that fail without isolation")
          .hasSizeGreaterThan(30);
    }
  }
}
