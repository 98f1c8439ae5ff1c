package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.isola.document.request.ExpiryAction;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Inserting, reading, updating and listing sandboxes. */
abstract class SandboxEntriesContract extends LedgerContract {

  SandboxEntriesContract(TestDatabase database) {
    super(database);
  }

  private static SandboxEntry full() {
    return intent("full")
        .tenant("red")
        .spec("{\"env\":{\"A\":\"ü\\u0000😀\"}}", "h1")
        .provider("bubblewrap", Isolation.CONTAINER)
        .expiresAt(NOW.plusSeconds(60))
        .idleTimeout(Duration.ofMillis(1500))
        .warm(true)
        .pooled(true)
        .cause("because\tof\n\\this")
        .attempt(new FailedAttempt("docker", "not\tthere\n", NOW))
        .attempt(new FailedAttempt("gvisor", "", NOW.plusNanos(1_999)))
        .label("team", "a=b\tc")
        .label("", "")
        .whenIdle(ExpiryAction.PAUSE)
        .whenExpired(ExpiryAction.SNAPSHOT)
        .suspension(
            new Suspension(
                Suspension.Reason.IDLE, Optional.of(Duration.ofSeconds(5)), Optional.of("s1")))
        .baseImage("base")
        .name("web-1")
        .build();
  }

  @Test
  void everyFieldIsRestored() {
    SandboxEntry stored = ledger.sandboxes().insert(full());

    assertThat(stored).isEqualTo(full().withRevision(1));
    assertThat(ledger.sandboxes().find(stored.id())).contains(stored);
    reopen();
    assertThat(ledger.sandboxes().find(stored.id())).contains(stored);
  }

  @Test
  void emptyFieldsStayEmpty() {
    SandboxEntry stored = ledger.sandboxes().insert(intent("bare").build());

    SandboxEntry found = ledger.sandboxes().find(id("bare")).orElseThrow();
    assertThat(found).isEqualTo(stored);
    assertThat(found.expiresAt()).isEmpty();
    assertThat(found.idleTimeout()).isEmpty();
    assertThat(found.cause()).isEmpty();
    assertThat(found.attempts()).isEmpty();
    assertThat(found.labels()).isEmpty();
    assertThat(ledger.sandboxes().find(id("unknown"))).isEmpty();
  }

  @Test
  void timesHaveMicrosecondsAndAWideRange() {
    SandboxEntry stored =
        ledger
            .sandboxes()
            .insert(
                intent("far")
                    .updatedAt(NOW.plusNanos(999))
                    .expiresAt(Instant.MAX)
                    .idleTimeout(Duration.ofSeconds(Long.MAX_VALUE))
                    .build());

    SandboxEntry found = ledger.sandboxes().find(stored.id()).orElseThrow();
    assertThat(found.updatedAt()).isEqualTo(NOW);
    assertThat(found.expiresAt().orElseThrow()).isAfter(Instant.parse("+40000-01-01T00:00:00Z"));
    written(ledger.sandboxes().update(found.withState(SandboxState.RUNNING, NOW)));
    assertThat(ledger.sandboxes().touch(Map.of(stored.id(), NOW.plusSeconds(1)))).isEqualTo(1);
    assertThat(ledger.sandboxes().findExpired(NOW.plus(Duration.ofDays(36_500)), 10)).isEmpty();
  }

  @Test
  void unstorableCharactersAreReplaced() {
    SandboxEntry stored =
        ledger.sandboxes().insert(intent("odd").cause("nul \0 half \ud83d end").build());

    assertThat(ledger.sandboxes().find(stored.id()).orElseThrow().cause())
        .contains("nul \ufffd half \ufffd end");
  }

  @Test
  void duplicateIdIsRefused() {
    SandboxEntry first = ledger.sandboxes().insert(intent("one").build());

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> ledger.sandboxes().insert(intent("one").tenant("other").build()))
        .satisfies(e -> assertThat(e.sandbox()).contains(id("one")));
    assertThat(ledger.sandboxes().find(id("one"))).contains(first);
    assertThat(ledger.sandboxes().transitions(id("one"))).hasSize(1);
  }

  @Test
  void nameBelongsToOneSandboxOfATenantUntilItIsDestroyed() {
    SandboxEntry first = running("one", b -> b.name("web"));

    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> ledger.sandboxes().insert(intent("two").name("web").build()))
        .withMessageContaining("'web' belongs to sandbox one")
        .satisfies(e -> assertThat(e.sandbox()).contains(id("one")));
    assertThat(ledger.sandboxes().find(id("two"))).isEmpty();
    ledger.sandboxes().insert(intent("other").tenant("red").name("web").build());
    ledger.sandboxes().insert(intent("none").build());
    ledger.sandboxes().insert(intent("nothing").build());

    SandboxEntry ending =
        written(ledger.sandboxes().update(first.withState(SandboxState.TERMINATING, NOW)));
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> ledger.sandboxes().insert(intent("two").name("web").build()));
    written(ledger.sandboxes().update(ending.withState(SandboxState.DESTROYED, NOW)));
    assertThat(ledger.sandboxes().insert(intent("two").name("web").build()).name()).contains("web");
    assertThat(ledger.sandboxes().find(id("one")).orElseThrow().name()).contains("web");
  }

  @Test
  void sandboxesAreFoundByNameAndByTheBeginningOfTheId() {
    running("abc1", b -> b.name("web"));
    running("abc2", b -> b.name("abc1"));
    running("ab", b -> b);
    running("web9", b -> b);

    assertThat(ids(EntryFilter.ALL.name("web"))).containsExactly("abc1");
    assertThat(ids(EntryFilter.ALL.name("abc"))).isEmpty();
    assertThat(ids(EntryFilter.ALL.reference("abc"))).containsExactly("abc1", "abc2");
    assertThat(ids(EntryFilter.ALL.reference("abc1"))).containsExactly("abc1", "abc2");
    assertThat(ids(EntryFilter.ALL.reference("web"))).containsExactly("abc1", "web9");
    assertThat(ids(EntryFilter.ALL.reference("ab"))).as("too short").containsExactly("ab");
    assertThat(ids(EntryFilter.ALL.reference("ABC"))).isEmpty();
    assertThat(ids(EntryFilter.ALL.reference("%%%"))).isEmpty();
    assertThat(ids(EntryFilter.ALL.reference("___"))).isEmpty();
  }

  private List<String> ids(EntryFilter filter) {
    return ledger.sandboxes().list(filter, "", 10).entries().stream()
        .map(entry -> entry.id().value())
        .sorted()
        .toList();
  }

  @Test
  void onlyAnIntentIsInserted() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> ledger.sandboxes().insert(intent("x").state(SandboxState.RUNNING).build()));
  }

  /** A path of transitions to each state. */
  private static Map<SandboxState, List<SandboxState>> ways() {
    Map<SandboxState, List<SandboxState>> ways = new EnumMap<>(SandboxState.class);
    ways.put(SandboxState.CREATING, List.of());
    ways.put(SandboxState.RUNNING, List.of(SandboxState.RUNNING));
    ways.put(SandboxState.PAUSED, List.of(SandboxState.RUNNING, SandboxState.PAUSED));
    ways.put(SandboxState.STOPPED, List.of(SandboxState.RUNNING, SandboxState.STOPPED));
    ways.put(SandboxState.ERROR, List.of(SandboxState.ERROR));
    ways.put(SandboxState.TERMINATING, List.of(SandboxState.TERMINATING));
    ways.put(SandboxState.DESTROYED, List.of(SandboxState.TERMINATING, SandboxState.DESTROYED));
    return ways;
  }

  @ParameterizedTest
  @EnumSource
  void onlyLegalStateTransitionsAreAccepted(SandboxState from) {
    for (SandboxState to : SandboxState.values()) {
      String name = ("s" + to).toLowerCase(java.util.Locale.ROOT);
      SandboxEntry entry = ledger.sandboxes().insert(intent(name).build());
      for (SandboxState step : ways().getOrDefault(from, List.of())) {
        entry = written(ledger.sandboxes().update(entry.withState(step, NOW)));
      }
      SandboxEntry before = entry;
      int history = ledger.sandboxes().transitions(entry.id()).size();

      if (from == to || from.canTransitionTo(to)) {
        SandboxEntry after = written(ledger.sandboxes().update(before.withState(to, NOW, "why")));
        assertThat(after.revision()).isEqualTo(before.revision() + 1);
        assertThat(ledger.sandboxes().find(entry.id())).contains(after);
        assertThat(ledger.sandboxes().transitions(entry.id()))
            .hasSize(history + (from == to ? 0 : 1));
      } else {
        assertThatExceptionOfType(Conflict.class)
            .as(from + " to " + to)
            .isThrownBy(() -> ledger.sandboxes().update(before.withState(to, NOW)))
            .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.ILLEGAL_STATE));
        assertThat(ledger.sandboxes().find(entry.id())).contains(before);
        assertThat(ledger.sandboxes().transitions(entry.id())).hasSize(history);
      }
    }
  }

  @Test
  void staleUpdateIsReportedAndOverwritesNothing() {
    SandboxEntry entry = running("cas", b -> b);
    SandboxEntry first =
        written(ledger.sandboxes().update(entry.withState(SandboxState.PAUSED, NOW, "first")));

    UpdateResult second =
        ledger.sandboxes().update(entry.withState(SandboxState.STOPPED, NOW, "second"));

    assertThat(second).isEqualTo(new UpdateResult.Stale(first));
    assertThat(ledger.sandboxes().find(entry.id())).contains(first);
    assertThat(ledger.sandboxes().transitions(entry.id())).hasSize(3);
  }

  @Test
  void updateOfAnUnknownSandboxIsNotFound() {
    assertThatExceptionOfType(NotFound.class)
        .isThrownBy(() -> ledger.sandboxes().update(intent("unknown").build()));
  }

  @Test
  void historyHasEveryTransitionWithTimeAndCause() {
    SandboxEntry entry = running("h", b -> b);
    entry = written(ledger.sandboxes().update(entry.toBuilder().tenant("t").build()));
    written(
        ledger
            .sandboxes()
            .update(entry.withState(SandboxState.ERROR, NOW.plusSeconds(9), "the agent is gone")));

    assertThat(ledger.sandboxes().transitions(id("h")))
        .containsExactly(
            new Transition(1, Optional.empty(), SandboxState.CREATING, NOW, Optional.empty()),
            new Transition(
                2, Optional.of(SandboxState.CREATING), SandboxState.RUNNING, NOW, Optional.empty()),
            new Transition(
                4,
                Optional.of(SandboxState.RUNNING),
                SandboxState.ERROR,
                NOW.plusSeconds(9),
                Optional.of("the agent is gone")));
    assertThat(ledger.sandboxes().transitions(id("unknown"))).isEmpty();
  }

  @Test
  void listsPagesInCreationOrder() {
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      // Some have equal times, in which case the id decides.
      String name = "s" + (char) ('a' + i);
      ledger
          .sandboxes()
          .insert(
              SandboxEntry.intent(
                      id(name), "{}", "h", "memory", Isolation.VM, NOW.plusSeconds(i / 3))
                  .build());
      expected.add(name);
    }

    List<String> seen = new ArrayList<>();
    String cursor = "";
    int pages = 0;
    do {
      EntryPage page = ledger.sandboxes().list(EntryFilter.ALL, cursor, 4);
      page.entries().forEach(entry -> seen.add(entry.id().value()));
      cursor = page.next().orElse("");
      if (pages++ == 2) {
        // Later changes and inserts do not move existing entries.
        ledger.sandboxes().insert(intent("zlate").build().toBuilder().build());
        SandboxEntry first = ledger.sandboxes().find(id("sa")).orElseThrow();
        written(ledger.sandboxes().update(first.withState(SandboxState.RUNNING, NOW)));
      }
    } while (!cursor.isEmpty());

    assertThat(seen).containsExactlyElementsOf(expected);
  }

  @Test
  void filtersRestrictTheList() {
    running("a", b -> b.tenant("red").label("team", "x").label("env", "p"));
    running("b", b -> b.tenant("red").provider("docker", Isolation.CONTAINER).label("team", "y"));
    running("c", b -> b.pooled(true));
    ledger.sandboxes().insert(intent("d").label("team", "x").build());
    SandboxEntry gone = running("e", b -> b.tenant("red"));
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));

    assertThat(names(EntryFilter.ALL)).isEqualTo("abcde");
    assertThat(names(EntryFilter.ALL.tenant("red"))).isEqualTo("abe");
    assertThat(names(EntryFilter.ALL.tenant(""))).isEqualTo("cd");
    assertThat(names(EntryFilter.ALL.notDestroyed())).isEqualTo("abcd");
    assertThat(names(EntryFilter.ALL.states(SandboxState.CREATING, SandboxState.DESTROYED)))
        .isEqualTo("de");
    assertThat(names(EntryFilter.ALL.provider("docker"))).isEqualTo("b");
    assertThat(names(EntryFilter.ALL.label("team", "x"))).isEqualTo("ad");
    assertThat(names(EntryFilter.ALL.label("team", "x").label("env", "p"))).isEqualTo("a");
    assertThat(names(EntryFilter.ALL.label("team", "z"))).isEmpty();
    assertThat(names(EntryFilter.ALL.pooled(true))).isEqualTo("c");
    assertThat(names(EntryFilter.ALL.pooled(false).tenant("red").notDestroyed())).isEqualTo("ab");
    assertThat(names(EntryFilter.ALL.newestFirst(true))).isEqualTo("edcba");
    assertThat(names(EntryFilter.ALL.startedAfter(NOW.minusSeconds(60)))).isEqualTo("abcde");
    assertThat(names(EntryFilter.ALL.startedAfter(NOW.plusSeconds(60)))).isEmpty();
    assertThat(names(EntryFilter.ALL.startedAfter(NOW))).isEqualTo("abcde");
  }

  private String names(EntryFilter filter) {
    StringBuilder names = new StringBuilder();
    ledger.sandboxes().list(filter, "", 100).entries().forEach(e -> names.append(e.id()));
    return names.toString();
  }

  @Test
  void filterFollowsLabelChanges() {
    SandboxEntry entry = running("l", b -> b.label("team", "x"));
    written(ledger.sandboxes().update(entry.toBuilder().labels(Map.of("team", "y")).build()));

    assertThat(names(EntryFilter.ALL.label("team", "x"))).isEmpty();
    assertThat(names(EntryFilter.ALL.label("team", "y"))).isEqualTo("l");
  }

  @Test
  void invalidCursorsAndLimitsAreRefused() {
    for (String cursor : List.of("x", "####", "MTox", "MToxOkFC")) {
      assertThatExceptionOfType(InvalidRequest.class)
          .isThrownBy(() -> ledger.sandboxes().list(EntryFilter.ALL, cursor, 1));
    }
    for (int limit : new int[] {0, -1, SandboxEntries.MAX_LIMIT + 1}) {
      assertThatExceptionOfType(InvalidRequest.class)
          .isThrownBy(() -> ledger.sandboxes().list(EntryFilter.ALL, "", limit));
      assertThatExceptionOfType(InvalidRequest.class)
          .isThrownBy(() -> ledger.sandboxes().findExpired(NOW, limit));
    }
  }

  @Test
  void countsCoverEveryProviderAndStateExceptDestroyed() {
    assertThat(ledger.sandboxes().countByState()).isEmpty();
    ledger.sandboxes().insert(intent("c1").provider("a", Isolation.VM).build());
    running("r1", b -> b.provider("a", Isolation.VM));
    running("r2", b -> b.provider("a", Isolation.VM));
    running("r3", b -> b.provider("a", Isolation.VM).pooled(true));
    running("r4", b -> b.provider("b", Isolation.VM));
    SandboxEntry gone = running("r5", b -> b.provider("b", Isolation.VM));
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));
    assertThat(ledger.sandboxes().countByState())
        .containsExactlyInAnyOrder(
            new EntryCount("a", SandboxState.CREATING, false, 1),
            new EntryCount("a", SandboxState.RUNNING, false, 2),
            new EntryCount("a", SandboxState.RUNNING, true, 1),
            new EntryCount("b", SandboxState.RUNNING, false, 1));
  }

  @Test
  void expiringCountsLiveSandboxesByTheirExpiry() {
    running("soon", b -> b.expiresAt(NOW.plusSeconds(60)));
    running("later", b -> b.expiresAt(NOW.plusSeconds(6000)));
    running("idle", b -> b.idleTimeout(Duration.ofSeconds(60)));
    running("both", b -> b.expiresAt(NOW.plusSeconds(6000)).idleTimeout(Duration.ofSeconds(60)));
    SandboxEntry gone = running("gone", b -> b.expiresAt(NOW.plusSeconds(60)));
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));
    assertThat(ledger.sandboxes().countExpiring(NOW.plusSeconds(600))).isEqualTo(1);
    assertThat(ledger.sandboxes().countExpiring(NOW.plusSeconds(60))).isZero();
    assertThat(ledger.sandboxes().countExpiring(NOW.plusSeconds(9000))).isEqualTo(3);
  }

  @Test
  void purgeDeletesOnlyOldDestroyedSandboxes() {
    running("kept", b -> b.label("a", "b"));
    SandboxEntry gone = running("gone", b -> b.label("a", "b"));
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));

    assertThat(ledger.sandboxes().purge(NOW)).isZero();
    assertThat(ledger.sandboxes().purge(NOW.plusSeconds(1))).isEqualTo(1);
    assertThat(names(EntryFilter.ALL)).isEqualTo("kept");
    assertThat(names(EntryFilter.ALL.label("a", "b"))).isEqualTo("kept");
    assertThat(ledger.sandboxes().transitions(id("gone"))).isEmpty();
  }

  @Test
  void purgeDeletesEventsAndKeysOfPurgedSandboxes() {
    SandboxEntry gone = running("gone", b -> b);
    SandboxEntry kept = running("kept", b -> b);
    for (SandboxEntry one : List.of(gone, kept)) {
      ledger.events().append(NewEvent.of(one.id(), "spawn", "{}", NOW));
      ledger.idempotency().claim("", "key-of-" + one.id(), "hash", one.id(), NOW);
    }
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));

    assertThat(ledger.sandboxes().purge(NOW.plusSeconds(1))).isEqualTo(1);
    assertThat(ledger.events().after(0, 100))
        .isNotEmpty()
        .allSatisfy(event -> assertThat(event.sandbox()).contains(kept.id()));
    assertThat(ledger.idempotency().claim("", "key-of-gone", "hash", id("new"), NOW))
        .isNotInstanceOf(KeyClaim.Existing.class);
    assertThat(ledger.idempotency().claim("", "key-of-kept", "hash", id("new"), NOW))
        .isInstanceOf(KeyClaim.Existing.class);
  }
}
