package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Expiry, activity and claims from the warm pool. */
abstract class ExpiryAndPoolContract extends LedgerContract {

  ExpiryAndPoolContract(TestDatabase database) {
    super(database);
  }

  private List<String> due(Instant now) {
    return ledger.sandboxes().findExpired(now, 100).stream().map(e -> e.id().value()).toList();
  }

  @Test
  void findExpiredReturnsExpiredAndIdleSandboxes() {
    running("never", b -> b);
    running("end", b -> b.expiresAt(NOW.plusSeconds(10)));
    running("idle", b -> b.idleTimeout(Duration.ofSeconds(5)));
    running("both", b -> b.expiresAt(NOW.plusSeconds(20)).idleTimeout(Duration.ofSeconds(7)));

    assertThat(due(NOW.plusSeconds(4))).isEmpty();
    assertThat(due(NOW.plusSeconds(5).minusNanos(1000))).isEmpty();
    assertThat(due(NOW.plusSeconds(5))).containsExactly("idle");
    assertThat(due(NOW.plusSeconds(10))).containsExactly("idle", "both", "end");
    assertThat(ledger.sandboxes().findExpired(NOW.plusSeconds(99), 2))
        .extracting(e -> e.id().value())
        .containsExactly("idle", "both");
  }

  @Test
  void findExpiredReturnsOnlyLiveSandboxes() {
    Instant end = NOW.plusSeconds(1);
    ledger.sandboxes().insert(intent("creating").expiresAt(end).build());
    SandboxEntry paused = running("paused", b -> b.expiresAt(end));
    written(ledger.sandboxes().update(paused.withState(SandboxState.PAUSED, NOW)));
    SandboxEntry stopped = running("stopped", b -> b.expiresAt(end));
    written(ledger.sandboxes().update(stopped.withState(SandboxState.STOPPED, NOW)));
    SandboxEntry failed = running("failed", b -> b.expiresAt(end));
    written(ledger.sandboxes().update(failed.withState(SandboxState.ERROR, NOW)));
    SandboxEntry ending = running("ending", b -> b.expiresAt(end));
    written(ledger.sandboxes().update(ending.withState(SandboxState.TERMINATING, NOW)));

    assertThat(due(end)).containsExactlyInAnyOrder("paused", "stopped");
  }

  @Test
  void findExpiredOmitsTheSandboxesOfGivenProviders() {
    running("one", b -> b.provider("slow", Isolation.CONTAINER).expiresAt(NOW));
    running("two", b -> b.provider("hanging", Isolation.CONTAINER).expiresAt(NOW));
    running("three", b -> b.provider("fast", Isolation.CONTAINER).expiresAt(NOW.plusSeconds(1)));

    assertThat(
            ledger
                .sandboxes()
                .findExpired(Optional.empty(), Set.of("slow", "hanging"), NOW.plusSeconds(1), 1))
        .extracting(entry -> entry.id().value())
        .containsExactly("three");
  }

  @Test
  void renewalExtendsTheExpiryAndDefeatsAnEarlierDecision() {
    running("r", b -> b.expiresAt(NOW.plusSeconds(1)));
    SandboxEntry decided = ledger.sandboxes().findExpired(NOW.plusSeconds(1), 1).getFirst();
    written(ledger.sandboxes().update(decided.toBuilder().expiresAt(NOW.plusSeconds(100)).build()));

    assertThat(ledger.sandboxes().update(decided.withState(SandboxState.TERMINATING, NOW)))
        .isInstanceOf(UpdateResult.Stale.class);
    assertThat(due(NOW.plusSeconds(1))).isEmpty();
    assertThat(due(NOW.plusSeconds(100))).containsExactly("r");
  }

  @Test
  void touchOnlyExtendsTheIdleTimeoutAndDefeatsAnExpiry() {
    SandboxId id =
        running("t", b -> b.idleTimeout(Duration.ofSeconds(5)).expiresAt(NOW.plusSeconds(8))).id();
    SandboxEntry decided = ledger.sandboxes().findExpired(NOW.plusSeconds(5), 1).getFirst();

    assertThat(ledger.sandboxes().touch(Map.of(id, NOW.plusSeconds(1), id("unknown"), NOW)))
        .isEqualTo(1);
    assertThat(ledger.sandboxes().touch(Map.of(id, NOW))).isZero();

    assertThat(ledger.sandboxes().update(decided.withState(SandboxState.TERMINATING, NOW)))
        .isInstanceOf(UpdateResult.Stale.class);
    assertThat(due(NOW.plusSeconds(5))).isEmpty();
    assertThat(due(NOW.plusSeconds(6))).containsExactly("t");
    ledger.sandboxes().touch(Map.of(id, NOW.plusSeconds(7)));
    assertThat(due(NOW.plusSeconds(7))).isEmpty();
    assertThat(due(NOW.plusSeconds(8))).containsExactly("t");
    SandboxEntry touched = ledger.sandboxes().find(id).orElseThrow();
    assertThat(touched.lastActivity()).isEqualTo(NOW.plusSeconds(7));
    assertThat(touched.dueAt()).contains(NOW.plusSeconds(8));
  }

  @Test
  void claimTakesTheOldestMatchAndSetsItsExpiry() {
    running("other", b -> b.pooled(true).spec("{}", "otherhash"));
    ledger.sandboxes().insert(intent("creating").pooled(true).build());
    running("first", b -> b.pooled(true).label("old", "1"));
    running("second", b -> b.pooled(true));
    running("used", b -> b);
    PoolClaim claim =
        new PoolClaim(
            "hash",
            "memory",
            "red",
            Map.of("team", "x"),
            Optional.empty(),
            Optional.of(NOW.plusSeconds(9)),
            Optional.of(Duration.ofSeconds(3)),
            Optional.empty(),
            NOW.plusSeconds(1));

    SandboxEntry claimed = ledger.sandboxes().claimPooled(claim).orElseThrow();

    assertThat(ledger.sandboxes().find(id("first"))).contains(claimed);
    assertThat(claimed.id()).isEqualTo(id("first"));
    assertThat(claimed.revision()).isEqualTo(3);
    assertThat(claimed.tenant()).isEqualTo("red");
    assertThat(claimed.pooled()).isFalse();
    assertThat(claimed.warm()).isTrue();
    assertThat(claimed.labels()).isEqualTo(Map.of("team", "x"));
    assertThat(claimed.expiresAt()).contains(NOW.plusSeconds(9));
    assertThat(claimed.lastActivity()).isEqualTo(NOW.plusSeconds(1));
    assertThat(due(NOW.plusSeconds(3))).isEmpty();
    assertThat(due(NOW.plusSeconds(4))).containsExactly("first");
    assertThat(ledger.sandboxes().list(EntryFilter.ALL.label("team", "x"), "", 9).entries())
        .containsExactly(claimed);
    assertThat(ledger.sandboxes().list(EntryFilter.ALL.label("old", "1"), "", 9).entries())
        .isEmpty();
    assertThat(ledger.sandboxes().claimPooled(claim).orElseThrow().id()).isEqualTo(id("second"));
    assertThat(ledger.sandboxes().claimPooled(claim)).isEmpty();
  }

  @Test
  void claimMatchesTenantProviderAndSpec() {
    running("a", b -> b.pooled(true).tenant("blue"));

    assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("hash", "memory", "red", NOW)))
        .isEmpty();
    assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("hash", "docker", "blue", NOW)))
        .isEmpty();
    assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("x", "memory", "blue", NOW))).isEmpty();
    assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("hash", "memory", "blue", NOW)))
        .isPresent();
  }
}
