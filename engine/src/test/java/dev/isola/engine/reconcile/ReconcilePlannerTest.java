package dev.isola.engine.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Suspension;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReconcilePlannerTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final SandboxId ID = new SandboxId("box");

  private static SandboxEntry entry(SandboxState state) {
    return SandboxEntry.intent(ID, "{}", "hash", "p", Isolation.CONTAINER, NOW)
        .state(state)
        .build();
  }

  private static InventoryItem item(SandboxState state) {
    return new InventoryItem(ID, state, NOW, Map.of());
  }

  private static List<ReconcileStep> plan(
      List<SandboxEntry> recorded,
      Map<String, List<InventoryItem>> inventories,
      Set<SandboxId> inTransition) {
    Map<SandboxId, String> after =
        recorded.isEmpty() ? Map.of() : Map.of(ID, recorded.getFirst().provider());
    return ReconcilePlanner.plan(
        new ReconcileInput(recorded, inventories, after, inTransition, Set.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "CREATING, none, MarkLost",
    "CREATING, RUNNING, MarkLost",
    "RUNNING, RUNNING, Attach",
    "RUNNING, PAUSED, CorrectState",
    "RUNNING, STOPPED, CorrectState",
    "RUNNING, ERROR, MarkLost",
    "RUNNING, none, MarkLost",
    "PAUSED, PAUSED, Attach",
    "PAUSED, RUNNING, CorrectState",
    "PAUSED, none, MarkLost",
    "STOPPED, STOPPED, Attach",
    "STOPPED, none, MarkLost",
    "ERROR, none, FinishDestroy",
    "ERROR, RUNNING, FinishDestroy",
    "TERMINATING, none, FinishDestroy",
    "TERMINATING, RUNNING, FinishDestroy",
  })
  void everyCombinationHasTheExpectedStep(SandboxState recorded, String inventories, String step) {
    List<InventoryItem> items =
        inventories.equals("none") ? List.of() : List.of(item(SandboxState.valueOf(inventories)));
    assertThat(plan(List.of(entry(recorded)), Map.of("p", items), Set.of()))
        .singleElement()
        .satisfies(one -> assertThat(one.getClass().getSimpleName()).isEqualTo(step));
  }

  @Test
  void unansweredInventoryCausesNoSteps() {
    for (SandboxState state : SandboxState.values()) {
      assertThat(plan(List.of(entry(state)), Map.of(), Set.of())).isEmpty();
    }
  }

  @Test
  void leasedSandboxesAreIgnored() {
    Map<String, List<InventoryItem>> inventories = Map.of("p", List.of(item(SandboxState.RUNNING)));
    assertThat(
            ReconcilePlanner.plan(
                new ReconcileInput(List.of(), inventories, Map.of(), Set.of(), Set.of(ID))))
        .isEmpty();
    assertThat(
            ReconcilePlanner.plan(
                new ReconcileInput(List.of(), inventories, Map.of(), Set.of(), Set.of())))
        .containsExactly(new ReconcileStep.RemoveUnknown("p", ID));
  }

  @Test
  void sandboxesInTransitionAreIgnored() {
    Map<String, List<InventoryItem>> inventories = Map.of("p", List.of(item(SandboxState.RUNNING)));
    assertThat(plan(List.of(entry(SandboxState.CREATING)), inventories, Set.of(ID))).isEmpty();
    assertThat(plan(List.of(), inventories, Set.of(ID))).isEmpty();
  }

  @Test
  void unrecordedSandboxIsRemoved() {
    Map<String, List<InventoryItem>> inventories = Map.of("p", List.of(item(SandboxState.RUNNING)));
    assertThat(plan(List.of(), inventories, Set.of()))
        .containsExactly(new ReconcileStep.RemoveUnknown("p", ID));
  }

  @Test
  void sandboxAtAnUnrecordedProviderIsRemoved() {
    Map<String, List<InventoryItem>> inventories =
        Map.of(
            "p", List.of(item(SandboxState.RUNNING)),
            "tried", List.of(item(SandboxState.RUNNING)));
    assertThat(plan(List.of(entry(SandboxState.RUNNING)), inventories, Set.of()))
        .contains(new ReconcileStep.RemoveUnknown("tried", ID))
        .doesNotContain(new ReconcileStep.RemoveUnknown("p", ID));
  }

  @Test
  void sandboxCreatedMeanwhileIsNotRemoved() {
    Map<String, List<InventoryItem>> inventories = Map.of("p", List.of(item(SandboxState.RUNNING)));
    ReconcileInput now =
        new ReconcileInput(List.of(), inventories, Map.of(ID, "p"), Set.of(), Set.of());
    assertThat(ReconcilePlanner.plan(now)).isEmpty();
  }

  @Test
  void snapshotSuspendedSandboxIsNotLost() {
    SandboxEntry kept =
        entry(SandboxState.STOPPED).toBuilder()
            .suspension(
                new Suspension(
                    Suspension.Reason.IDLE, Optional.of(Duration.ofSeconds(1)), Optional.of("s1")))
            .build();
    assertThat(plan(List.of(kept), Map.of("p", List.of()), Set.of())).isEmpty();
    assertThat(plan(List.of(kept), Map.of("p", List.of(item(SandboxState.RUNNING))), Set.of()))
        .containsExactly(new ReconcileStep.DiscardSuspended(kept));
  }

  private static final RestoreGaps GAPS =
      new RestoreGaps(List.of(new RestoreGaps.Gap(NOW.plusSeconds(600), NOW.plusSeconds(1200))));

  private static List<ReconcileStep> planAfterRestore(
      List<SandboxEntry> recorded, Instant createdAt, SandboxState state) {
    return ReconcilePlanner.plan(
        new ReconcileInput(
            recorded,
            Map.of("p", List.of(new InventoryItem(ID, state, createdAt, Map.of()))),
            recorded.isEmpty() ? Map.of() : Map.of(ID, "p"),
            Set.of(),
            Set.of(),
            GAPS));
  }

  @Test
  void restoredLedgerLeavesSandboxesAloneThatAreNewerThanTheBackup() {
    assertThat(planAfterRestore(List.of(), NOW.plusSeconds(900), SandboxState.RUNNING))
        .containsExactly(new ReconcileStep.LeaveUnrecorded("p", ID));
    for (long outside : new long[] {500, 1300}) {
      assertThat(planAfterRestore(List.of(), NOW.plusSeconds(outside), SandboxState.RUNNING))
          .containsExactly(new ReconcileStep.RemoveUnknown("p", ID));
    }
  }

  @Test
  void restoredLedgerAcceptsASandboxThatWasCreatedOrResumedAfterTheBackup() {
    SandboxEntry creating = entry(SandboxState.CREATING);
    assertThat(planAfterRestore(List.of(creating), NOW, SandboxState.RUNNING))
        .containsExactly(new ReconcileStep.CorrectState(creating, SandboxState.RUNNING));
    SandboxEntry suspended =
        entry(SandboxState.STOPPED).toBuilder()
            .suspension(
                new Suspension(Suspension.Reason.IDLE, Optional.empty(), Optional.of("snapshot")))
            .build();
    assertThat(planAfterRestore(List.of(suspended), NOW.plusSeconds(900), SandboxState.RUNNING))
        .containsExactly(new ReconcileStep.CorrectState(suspended, SandboxState.RUNNING));
    assertThat(planAfterRestore(List.of(suspended), NOW, SandboxState.RUNNING))
        .containsExactly(new ReconcileStep.DiscardSuspended(suspended));
  }

  private static Map<SandboxId, InventoryDifference> difference(SandboxEntry entry, String found) {
    List<InventoryItem> inventory =
        found.equals("none") ? List.of() : List.of(item(SandboxState.valueOf(found)));
    return ReconcilePlanner.differences(
            plan(List.of(entry), Map.of("p", inventory), Set.of()),
            found.equals("none") ? Set.of() : Set.of(ID),
            RestoreGaps.NONE)
        .getOrDefault(entry.owner(), List.of())
        .stream()
        .collect(Collectors.toMap(InventoryDifference::id, one -> one, (a, _) -> a, HashMap::new));
  }

  private static InventoryDifference ofAnEarlierRevision(InventoryDifference one) {
    return new InventoryDifference(
        one.id(), one.revision() - 1, one.recorded(), one.kind(), one.found(), one.why());
  }

  private static List<String> planOwned(
      SandboxEntry entry, Map<SandboxId, InventoryDifference> differences) {
    return ReconcilePlanner.planOwned(List.of(entry), differences, Set.of(), RestoreGaps.NONE)
        .stream()
        .map(step -> step.getClass().getSimpleName())
        .toList();
  }

  /** The columns: recorded, in the inventory, the step of the owner, and after another change. */
  @ParameterizedTest
  @CsvSource({
    "CREATING, none, MarkLost, MarkLost",
    "CREATING, RUNNING, MarkLost, MarkLost",
    "RUNNING, RUNNING, Attach, Attach",
    "RUNNING, PAUSED, CorrectState, Attach",
    "RUNNING, ERROR, MarkLost, VerifyLost",
    "RUNNING, none, VerifyLost, VerifyLost",
    "PAUSED, RUNNING, CorrectState, Attach",
    "PAUSED, none, VerifyLost, VerifyLost",
    "STOPPED, STOPPED, Attach, Attach",
    "STOPPED, none, VerifyLost, VerifyLost",
    "ERROR, none, FinishDestroy, FinishDestroy",
    "TERMINATING, RUNNING, FinishDestroy, FinishDestroy",
  })
  void ownerActsOnDifferencesThatAnotherServerFound(
      SandboxState recorded, String found, String step, String afterChange) {
    SandboxEntry entry = entry(recorded);
    Map<SandboxId, InventoryDifference> differences = difference(entry, found);
    assertThat(planOwned(entry, differences)).containsExactly(step);
    differences.replaceAll((_, one) -> ofAnEarlierRevision(one));
    assertThat(planOwned(entry, differences)).containsExactly(afterChange);
  }

  @Test
  void differenceSaysNothingAboutASandboxThatHasAnotherStateNow() {
    Map<SandboxId, InventoryDifference> differences =
        difference(entry(SandboxState.RUNNING), "none");
    assertThat(planOwned(entry(SandboxState.STOPPED), differences)).containsExactly("Attach");
  }

  @Test
  void ownerDoesNothingAboutASandboxInTransition() {
    SandboxEntry entry = entry(SandboxState.CREATING);
    assertThat(ReconcilePlanner.planOwned(List.of(entry), Map.of(), Set.of(ID), RestoreGaps.NONE))
        .isEmpty();
  }
}
