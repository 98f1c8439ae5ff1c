package dev.isola.engine.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension.Reason;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpiryPlannerTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final SandboxId ID = new SandboxId("box");

  /**
   * State, what is due, in use, pooled, action when idle, action when expired, and step. A cell may
   * list alternatives; * matches anything.
   */
  private static final String TABLE =
      """
      CREATING/ERROR/TERMINATING/DESTROYED * * * * * none
      RUNNING/PAUSED/STOPPED nothing * * * * none
      RUNNING/PAUSED/STOPPED idle yes * * * Touch
      RUNNING/PAUSED/STOPPED idle no yes * * Destroy
      RUNNING/PAUSED/STOPPED idle no no DESTROY * Destroy
      RUNNING idle no no PAUSE/STOP/SNAPSHOT * Suspend
      PAUSED/STOPPED idle no no PAUSE/STOP/SNAPSHOT * MarkSuspended
      RUNNING/PAUSED/STOPPED expired/both * yes * * Destroy
      RUNNING/PAUSED/STOPPED expired/both * no * DESTROY Destroy
      RUNNING expired/both * no * PAUSE/STOP/SNAPSHOT Suspend
      PAUSED/STOPPED expired/both * no * PAUSE/STOP/SNAPSHOT MarkSuspended
      """;

  private record Combination(
      SandboxState state,
      String due,
      boolean inUse,
      boolean pooled,
      ExpiryAction whenIdle,
      ExpiryAction whenExpired) {
    List<String> cells() {
      return List.of(
          state.name(),
          due,
          inUse ? "yes" : "no",
          pooled ? "yes" : "no",
          whenIdle.name(),
          whenExpired.name());
    }

    SandboxEntry entry() {
      SandboxEntry.Builder entry =
          SandboxEntry.intent(
                  ID, "{}", "hash", "p", Isolation.CONTAINER, NOW.minus(Duration.ofHours(1)))
              .state(state)
              .pooled(pooled)
              .whenIdle(whenIdle)
              .whenExpired(whenExpired);
      boolean idle = due.equals("idle") || due.equals("both");
      boolean expired = due.equals("expired") || due.equals("both");
      return entry
          .idleTimeout(idle ? Duration.ofHours(1) : Duration.ofHours(2))
          .expiresAt(expired ? NOW : NOW.plusSeconds(1))
          .build();
    }

    String step() {
      List<ExpiryStep> steps =
          ExpiryPlanner.plan(List.of(entry()), NOW, inUse ? Set.of(ID) : Set.of());
      return steps.isEmpty() ? "none" : steps.getFirst().getClass().getSimpleName();
    }
  }

  private static List<Combination> all() {
    return Arrays.stream(SandboxState.values())
        .flatMap(
            state ->
                List.of("nothing", "idle", "expired", "both").stream()
                    .flatMap(
                        due ->
                            List.of(true, false).stream()
                                .flatMap(
                                    inUse ->
                                        List.of(true, false).stream()
                                            .flatMap(
                                                pooled -> actions(state, due, inUse, pooled)))))
        .toList();
  }

  private static Stream<Combination> actions(
      SandboxState state, String due, boolean inUse, boolean pooled) {
    return Arrays.stream(ExpiryAction.values())
        .flatMap(
            idle ->
                Arrays.stream(ExpiryAction.values())
                    .map(expired -> new Combination(state, due, inUse, pooled, idle, expired)));
  }

  private static boolean matches(List<String> row, List<String> cells) {
    for (int i = 0; i < cells.size(); i++) {
      if (!row.get(i).equals("*") && !List.of(row.get(i).split("/")).contains(cells.get(i))) {
        return false;
      }
    }
    return true;
  }

  @Test
  void everyCombinationHasTheExpectedStep() {
    List<List<String>> rows = TABLE.lines().map(line -> List.of(line.strip().split(" +"))).toList();
    assertThat(all())
        .hasSize(7 * 4 * 2 * 2 * 4 * 4)
        .allSatisfy(
            one ->
                assertThat(rows.stream().filter(row -> matches(row, one.cells())).toList())
                    .singleElement()
                    .satisfies(row -> assertThat(one.step()).isEqualTo(row.getLast())));
  }

  @Test
  void expiryTakesPrecedenceOverIdleness() {
    SandboxEntry both =
        new Combination(
                SandboxState.RUNNING, "both", true, false, ExpiryAction.STOP, ExpiryAction.SNAPSHOT)
            .entry();
    assertThat(ExpiryPlanner.plan(List.of(both), NOW, Set.of(ID)))
        .containsExactly(new ExpiryStep.Suspend(both, Reason.EXPIRED, ExpiryAction.SNAPSHOT))
        .allSatisfy(step -> assertThat(step.cause()).isEqualTo("it expired"));
    SandboxEntry idle =
        new Combination(
                SandboxState.RUNNING,
                "idle",
                false,
                false,
                ExpiryAction.STOP,
                ExpiryAction.SNAPSHOT)
            .entry();
    assertThat(ExpiryPlanner.plan(List.of(idle), NOW, Set.of()))
        .containsExactly(new ExpiryStep.Suspend(idle, Reason.IDLE, ExpiryAction.STOP))
        .allSatisfy(step -> assertThat(step.cause()).isEqualTo("it was idle for PT1H"));
  }

  @ParameterizedTest
  @CsvSource({
    "DESTROY, true, MEMORY FILESYSTEM, none",
    "PAUSE, true, MEMORY FILESYSTEM, PAUSE_MEMORY",
    "PAUSE, true, MEMORY, PAUSE_MEMORY",
    "PAUSE, true, FILESYSTEM, PAUSE_FILESYSTEM",
    "PAUSE, true, '', none",
    "STOP, true, MEMORY FILESYSTEM, PAUSE_FILESYSTEM",
    "STOP, true, MEMORY, none",
    "STOP, true, '', none",
    "SNAPSHOT, true, MEMORY FILESYSTEM, SNAPSHOT",
    "SNAPSHOT, true, '', SNAPSHOT",
    "SNAPSHOT, false, MEMORY FILESYSTEM, PAUSE_FILESYSTEM",
    "SNAPSHOT, false, MEMORY, none",
    "SNAPSHOT, false, '', none",
  })
  void actionAndCapabilitiesDetermineTheMethod(
      ExpiryAction action, boolean snapshots, String kinds, String method) {
    Set<PauseKind> all = EnumSet.noneOf(PauseKind.class);
    Arrays.stream(kinds.split(" "))
        .filter(kind -> !kind.isEmpty())
        .forEach(kind -> all.add(PauseKind.valueOf(kind)));
    assertThat(SuspensionMethod.of(action, snapshots, all).map(Enum::name).orElse("none"))
        .isEqualTo(method);
  }
}
