package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Servers that share the ledger, their leases, and the ownership of sandboxes. */
abstract class ServersContract extends LedgerContract {
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Set<String> PROVIDERS = Set.of("memory");

  ServersContract(TestDatabase database) {
    super(database);
  }

  private void register(String name) {
    ledger.servers().register(name, name + "1", "http://" + name, "1.0", LEASE);
  }

  private void kill(String name) {
    ledger.servers().release(name, name + "1");
  }

  private List<String> takeOver(String server, int limit) {
    return ledger.sandboxes().takeOver(TakeOver.some(server, PROVIDERS, limit)).stream()
        .map(entry -> entry.id().value())
        .toList();
  }

  @Test
  void serverIsRecordedWithItsLease() {
    register("a");
    register("b");
    kill("b");
    assertThat(ledger.servers().all())
        .extracting(ServerEntry::name, ServerEntry::url, ServerEntry::alive)
        .containsExactly(tuple("a", "http://a", true), tuple("b", "http://b", false));
  }

  @Test
  void renewalTellsWhetherTheLeaseHadEnded() {
    register("a");
    assertThat(ledger.servers().renew("a", "a1", LEASE, "x")).isEqualTo(LeaseRenewal.RENEWED);
    kill("a");
    assertThat(ledger.servers().renew("a", "a1", LEASE, "x")).isEqualTo(LeaseRenewal.LAPSED);
    assertThat(ledger.servers().renew("a", "a1", LEASE, "x")).isEqualTo(LeaseRenewal.RENEWED);
  }

  @Test
  void anotherProcessWithTheNameReplacesTheFirst() {
    register("a");
    ledger.servers().register("a", "a2", "http://a", "1.0", LEASE);
    assertThat(ledger.servers().renew("a", "a1", LEASE, "x")).isEqualTo(LeaseRenewal.REPLACED);
    ledger.servers().release("a", "a1");
    assertThat(ledger.servers().renew("a", "a2", LEASE, "x")).isEqualTo(LeaseRenewal.RENEWED);
  }

  @Test
  void onlySandboxesOfAServerWithoutLeaseAreTakenOver() {
    register("a");
    register("b");
    running("x", entry -> entry.owner("b"));
    assertThat(takeOver("a", 10)).isEmpty();
    kill("b");
    assertThat(takeOver("a", 10)).containsExactly("x");
    assertThat(takeOver("a", 10)).isEmpty();
  }

  @Test
  void takeOverDefeatsAWriteOfTheFormerOwner() {
    register("a");
    register("b");
    SandboxEntry before = running("x", entry -> entry.owner("b"));
    kill("b");
    SandboxEntry taken =
        ledger.sandboxes().takeOver(TakeOver.one("a", PROVIDERS, id("x"))).getFirst();
    assertThat(taken.owner()).isEqualTo("a");
    assertThat(taken.fence()).isEqualTo(before.fence() + 1);
    assertThat(ledger.sandboxes().update(before.withState(SandboxState.PAUSED, NOW)))
        .isEqualTo(new UpdateResult.Stale(taken));
  }

  @Test
  void sandboxThatWasGivenUpIsTakenOverWhileItsOwnerHasALease() {
    register("a");
    register("b");
    SandboxEntry before = running("x", entry -> entry.owner("b"));
    running("other", entry -> entry.owner("a"));
    ledger.sandboxes().insert(intent("making").owner("b").build());

    assertThat(
            ledger
                .sandboxes()
                .giveUp("b", List.of(id("x"), id("other"), id("making"), id("unknown"))))
        .containsExactly(id("x"));
    assertThat(ledger.sandboxes().giveUp("b", List.of())).isEmpty();

    assertThat(ledger.sandboxes().update(before.withState(SandboxState.PAUSED, NOW)))
        .isInstanceOf(UpdateResult.Stale.class);
    SandboxEntry given = ledger.sandboxes().find(id("x")).orElseThrow();
    assertThat(given.owner()).isEmpty();
    assertThat(given.fence()).isEqualTo(before.fence() + 1);
    assertThat(takeOver("a", 10)).containsExactly("x");
  }

  @Test
  void sandboxesOfOtherProvidersAndDestroyedOnesAreLeft() {
    register("a");
    register("b");
    running("x", entry -> entry.owner("b"));
    SandboxEntry gone = running("gone", entry -> entry.owner("b"));
    gone = written(ledger.sandboxes().update(gone.withState(SandboxState.TERMINATING, NOW)));
    written(ledger.sandboxes().update(gone.withState(SandboxState.DESTROYED, NOW)));
    kill("b");
    assertThat(ledger.sandboxes().takeOver(TakeOver.some("a", Set.of("docker"), 10))).isEmpty();
    assertThat(ledger.sandboxes().takeOver(TakeOver.some("a", Set.of(), 10))).isEmpty();
    assertThat(takeOver("a", 10)).containsExactly("x");
  }

  @Test
  void onlyExpiredSandboxesAreTakenOverIfAskedFor() {
    register("a");
    register("b");
    running("expired", entry -> entry.owner("b").expiresAt(NOW));
    running("later", entry -> entry.owner("b").expiresAt(NOW.plusSeconds(60)));
    running("never", entry -> entry.owner("b"));
    kill("b");
    assertThat(
            ledger
                .sandboxes()
                .takeOver(TakeOver.some("a", PROVIDERS, 10).expiredBefore(NOW.plusSeconds(1))))
        .extracting(entry -> entry.id().value())
        .containsExactly("expired");
  }

  @Test
  void sandboxesOfALoneServerHaveNoOwner() {
    register("a");
    running("x", entry -> entry);
    assertThat(ledger.sandboxes().adopt("a")).isEqualTo(1);
    assertThat(ledger.sandboxes().find(id("x")).orElseThrow().owner()).isEqualTo("a");
    assertThat(ledger.sandboxes().adopt("a")).isZero();
    running("y", entry -> entry);
    assertThat(takeOver("a", 10)).containsExactly("y");
  }

  @Test
  void concurrentTakeOversShareTheSandboxes() throws InterruptedException {
    for (String server : List.of("a", "b", "c", "d")) {
      register(server);
    }
    for (int i = 0; i < 40; i++) {
      running("x" + i, entry -> entry.owner("d"));
    }
    kill("d");
    List<Callable<List<String>>> calls = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      String server = List.of("a", "b", "c").get(i % 3);
      calls.add(() -> takeOver(server, 10));
    }
    List<String> taken = new ArrayList<>();
    together(calls).forEach(taken::addAll);
    taken.addAll(takeOver("a", 100)); // what concurrent calls skipped
    assertThat(taken).hasSize(40).doesNotHaveDuplicates();
    assertThat(
            ledger
                .sandboxes()
                .list(EntryFilter.ALL.owner("d"), "", SandboxEntries.MAX_LIMIT)
                .entries())
        .isEmpty();
  }

  @Test
  void expiryAndListsAreRestrictedToAnOwner() {
    running("x", entry -> entry.owner("a").expiresAt(NOW));
    running("y", entry -> entry.owner("b").expiresAt(NOW));
    assertThat(ledger.sandboxes().findExpired(Optional.of("a"), Set.of(), NOW, 10))
        .extracting(entry -> entry.id().value())
        .containsExactly("x");
    assertThat(ledger.sandboxes().list(EntryFilter.ALL.owner("b"), "", 10).entries())
        .extracting(entry -> entry.id().value())
        .containsExactly("y");
  }

  @Test
  void poolClaimIsRestrictedToAnOwner() {
    running("x", entry -> entry.owner("a").pooled(true));
    SandboxEntry pooled = ledger.sandboxes().find(id("x")).orElseThrow();
    PoolClaim claim =
        new PoolClaim(
            pooled.specHash(),
            pooled.provider(),
            "",
            Map.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of("b"),
            NOW);
    assertThat(ledger.sandboxes().claimPooled(claim)).isEmpty();
    assertThat(ledger.sandboxes().findOpen(List.of(id("x"), id("nothing"))))
        .containsOnlyKeys(id("x"));
  }

  @Test
  void taskIsClaimedOnceUntilItsIntervalEnds() {
    assertThat(ledger.servers().claimTask("sweep", LEASE)).isTrue();
    assertThat(ledger.servers().claimTask("sweep", LEASE)).isFalse();
    assertThat(ledger.servers().claimTask("other", Duration.ofMillis(1))).isTrue();
    await().until(() -> ledger.servers().claimTask("other", LEASE));
  }

  @Test
  void serverThatOwnsASandboxIsNotForgotten() {
    register("a");
    register("b");
    running("x", entry -> entry.owner("b"));
    kill("a");
    kill("b");
    assertThat(ledger.servers().forget(Duration.ofHours(1))).isEqualTo(1);
    assertThat(ledger.servers().all()).extracting(ServerEntry::name).containsExactly("b");
  }

  @Test
  void versionOfSettingsIncreasesWithEachChange() {
    long first = ledger.settings().version("keys");
    assertThat(ledger.settings().version("keys")).isEqualTo(first);
    ledger.settings().put("keys", "a", "1");
    long second = ledger.settings().version("keys");
    assertThat(second).isGreaterThan(first);
    ledger.settings().put("other", "a", "1");
    assertThat(ledger.settings().version("keys")).isEqualTo(second);
    ledger.settings().remove("keys", "a");
    assertThat(ledger.settings().version("keys")).isGreaterThan(second);
  }
}
