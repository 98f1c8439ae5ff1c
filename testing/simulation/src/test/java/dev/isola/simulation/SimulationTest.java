package dev.isola.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.simulation.Violation.Kind;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small simulations. {@code testing/simulation-here.sh} runs the large ones. */
@Tag("all")
class SimulationTest {
  private static final Map<PlantedFault, Kind> CAUGHT =
      Map.of(
          PlantedFault.IGNORES_LEASE, Kind.STALE_OWNER_WRITE,
          PlantedFault.TAKEOVER_WITHOUT_FENCE, Kind.DOUBLE_OWNER,
          PlantedFault.TAKEOVER_OF_LIVE_SERVERS, Kind.LIVE_SERVER_ROBBED,
          PlantedFault.SKIPPING_SWEEPER, Kind.IMMORTAL,
          PlantedFault.REMOVAL_WITHOUT_CHECK, Kind.LOST,
          PlantedFault.NO_REMOVAL, Kind.LEAK,
          PlantedFault.ACKNOWLEDGED_TOO_EARLY, Kind.UNRECORDED);

  private static World run(Scenario scenario) {
    World world = new World(scenario);
    world.run();
    return world;
  }

  @Test
  void everySandboxIsCreatedAndEndsWithoutFaults() {
    World world = run(new Scenario(3, 1_000).with(Faults.NONE));

    assertThat(world.monitor.violations()).isEmpty();
    assertThat(world.monitor.acknowledged).isEqualTo(1_000);
    assertThat(world.monitor.rejected).isZero();
    assertThat(world.monitor.markedLost).isZero();
    assertThat(world.monitor.takeOvers).isZero();
    assertThat(world.roundTrips.perOperation(Operation.CREATE)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void invariantsHoldWithManyFaults(long seed) {
    World world = run(new Scenario(6, 3_000).withSeed(seed));

    assertThat(world.monitor.violations()).isEmpty();
    assertThat(world.monitor.acknowledged).isGreaterThan(2_000);
    assertThat(world.monitor.takeOvers).isPositive();
    assertThat(world.monitor.markedLost).isPositive();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void plantedFaultIsCaught(PlantedFault fault) {
    Kind invariant = Objects.requireNonNull(CAUGHT.get(fault));
    World world = new World(new Scenario(6, 3_000).with(fault));

    world.runUntilViolated(invariant);

    assertThat(world.monitor.counts()).containsKey(invariant);
  }

  @Test
  void sameScenarioGivesTheSameRun() {
    World first = run(new Scenario(4, 500));
    World second = run(new Scenario(4, 500));

    assertThat(second.timeline.processed()).isEqualTo(first.timeline.processed());
    assertThat(second.roundTrips.total()).isEqualTo(first.roundTrips.total());
  }
}
