package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.DeadlineExceeded;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Concurrent calls: exactly one succeeds, and every caller gets the correct result. */
abstract class ConcurrencyContract extends LedgerContract {
  private static final int SANDBOXES = Boolean.getBoolean("isola.long") ? 10_000 : 1_000;

  ConcurrencyContract(TestDatabase database) {
    super(database);
  }

  @Test
  void exactlyOneOfEightConcurrentUpdatesSucceeds() throws InterruptedException {
    int rounds = 1000;
    AtomicReference<SandboxEntry> current = new AtomicReference<>(running("cas", b -> b));
    AtomicInteger winners = new AtomicInteger();
    AtomicInteger wrongRounds = new AtomicInteger();
    AtomicReference<SandboxEntry> next = new AtomicReference<>();
    CyclicBarrier barrier =
        new CyclicBarrier(
            8,
            () -> {
              if (next.get() != null) {
                if (winners.getAndSet(0) != 1) {
                  wrongRounds.incrementAndGet();
                }
                current.set(next.get());
              }
            });

    AtomicInteger thread = new AtomicInteger();
    inThreads(
        8,
        () -> {
          int me = thread.incrementAndGet();
          for (int round = 0; round < rounds; round++) {
            barrier.await();
            SandboxEntry mine = current.get().toBuilder().cause(round + " by " + me).build();
            switch (ledger.sandboxes().update(mine)) {
              case UpdateResult.Written(SandboxEntry entry) -> {
                winners.incrementAndGet();
                next.set(entry);
              }
              case UpdateResult.Stale(SandboxEntry other) ->
                  assertThat(other.revision()).isGreaterThan(mine.revision());
            }
          }
          barrier.await();
          return true;
        });

    assertThat(wrongRounds).hasValue(0);
    SandboxEntry last = ledger.sandboxes().find(id("cas")).orElseThrow();
    assertThat(last).isEqualTo(next.get());
    assertThat(last.revision()).isEqualTo(2 + rounds);
  }

  @Test
  void concurrentClaimsReceiveDistinctSandboxes() throws InterruptedException {
    manyRunning("p", SANDBOXES, b -> b.pooled(true));
    AtomicInteger left = new AtomicInteger(SANDBOXES);
    Set<SandboxId> handedOut = ConcurrentHashMap.newKeySet();
    AtomicInteger doubles = new AtomicInteger();

    inThreads(
        32,
        () -> {
          String tenant = "t" + Thread.currentThread().threadId();
          while (left.get() > 0) {
            Optional<SandboxEntry> claimed = claimOnASlowMachine(tenant);
            if (claimed.isPresent()) {
              left.decrementAndGet();
              assertThat(claimed.get().tenant()).isEqualTo(tenant);
              if (!handedOut.add(claimed.get().id())) {
                doubles.incrementAndGet();
              }
            }
          }
          return true;
        });

    assertThat(doubles).hasValue(0);
    assertThat(handedOut).hasSize(SANDBOXES);
    assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("hash", "memory", "t", NOW))).isEmpty();
    assertThat(ledger.sandboxes().list(EntryFilter.ALL.pooled(true), "", 1).entries()).isEmpty();
  }

  /**
   * A caller that is told that nothing was written retries; if that was wrong, the count differs.
   */
  private Optional<SandboxEntry> claimOnASlowMachine(String tenant) {
    try {
      return ledger.sandboxes().claimPooled(PoolClaim.of("hash", "memory", tenant, NOW));
    } catch (DeadlineExceeded nothingWritten) {
      return Optional.empty();
    }
  }

  @Test
  void exactlyOneOfConcurrentIntentsAndClaimsReceivesAName() throws InterruptedException {
    int rounds = 20;
    manyRunning("pooled", 4 * rounds, b -> b.pooled(true));
    for (int round = 0; round < rounds; round++) {
      String name = "web-" + round;
      List<Callable<Boolean>> work = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        String id = "n" + round + "x" + i;
        work.add(() -> insertsWithName(id, name));
        work.add(() -> claimsWithName(name));
      }
      assertThat(together(work)).as(name).containsOnlyOnce(true);
      assertThat(ledger.sandboxes().list(EntryFilter.ALL.name(name), "", 10).entries()).hasSize(1);
    }
  }

  private boolean insertsWithName(String id, String name) {
    try {
      return ledger.sandboxes().insert(intent(id).name(name).build()).name().isPresent();
    } catch (Conflict taken) {
      return false;
    }
  }

  private boolean claimsWithName(String name) {
    PoolClaim claim =
        new PoolClaim(
            "hash",
            "memory",
            "",
            Map.of(),
            Optional.of(name),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            NOW);
    return ledger.sandboxes().claimPooled(claim).isPresent();
  }

  @Test
  void eitherRenewalOrExpirySucceeds() throws InterruptedException {
    Instant end = NOW.plusSeconds(10);
    Instant renewedEnd = NOW.plusSeconds(1000);
    List<SandboxEntry> all = manyRunning("e", SANDBOXES, b -> b.expiresAt(end));
    Set<SandboxId> renewed = ConcurrentHashMap.newKeySet();
    Set<SandboxId> refused = ConcurrentHashMap.newKeySet();
    Set<SandboxId> taken = ConcurrentHashMap.newKeySet();
    int lanes = 8;
    List<Callable<Boolean>> work = new ArrayList<>();
    for (int lane = 0; lane < lanes; lane++) {
      int first = lane;
      work.add(
          () -> {
            for (int i = first; i < SANDBOXES; i += lanes) {
              renew(all.get(i).id(), renewedEnd, renewed, refused);
            }
            return true;
          });
      work.add(
          () -> {
            // Decides an expiry from a read entry; a renewal may intervene.
            for (int i = first; i < SANDBOXES; i += lanes) {
              SandboxEntry read = ledger.sandboxes().find(all.get(i).id()).orElseThrow();
              if (read.dueAt().filter(due -> !due.isAfter(end)).isPresent()) {
                takeDown(read, taken);
              }
            }
            return true;
          });
    }

    together(work);

    // No sandbox expires early: every acknowledged renewal holds.
    Set<SandboxId> both = new HashSet<>(renewed);
    both.retainAll(taken);
    assertThat(both).isEmpty();
    // Every caller got the correct result.
    assertThat(refused).isEqualTo(taken);
    assertThat(renewed.size() + taken.size()).isEqualTo(SANDBOXES);
    for (SandboxEntry entry : all) {
      assertThat(ledger.sandboxes().find(entry.id()).orElseThrow().state())
          .isEqualTo(taken.contains(entry.id()) ? SandboxState.TERMINATING : SandboxState.RUNNING);
    }
    // No sandbox is immortal: a sweep at the new expiry finds all that remain.
    assertThat(ledger.sandboxes().findExpired(end, 1)).isEmpty();
    Set<SandboxId> swept = new HashSet<>();
    List<SandboxEntry> due = ledger.sandboxes().findExpired(renewedEnd, 1000);
    while (!due.isEmpty()) {
      List<SandboxEntry> batch = due;
      ledger.atomically(
          parts -> {
            batch.forEach(
                e -> written(parts.sandboxes().update(e.withState(SandboxState.TERMINATING, NOW))));
            return true;
          });
      due.forEach(entry -> swept.add(entry.id()));
      due = ledger.sandboxes().findExpired(renewedEnd, 1000);
    }
    assertThat(swept).isEqualTo(renewed);
    // Both sides won at least once, so the calls really raced.
    assertThat(renewed).isNotEmpty();
    assertThat(taken).isNotEmpty();
  }

  private void renew(SandboxId id, Instant until, Set<SandboxId> renewed, Set<SandboxId> refused) {
    SandboxEntry read = ledger.sandboxes().find(id).orElseThrow();
    while (true) {
      if (!SandboxEntry.isAlive(read.state())) {
        refused.add(id);
        return;
      }
      switch (ledger.sandboxes().update(read.toBuilder().expiresAt(until).build())) {
        case UpdateResult.Written(SandboxEntry _) -> {
          renewed.add(id);
          return;
        }
        case UpdateResult.Stale(SandboxEntry current) -> read = current;
      }
    }
  }

  private void takeDown(SandboxEntry read, Set<SandboxId> taken) {
    if (ledger.sandboxes().update(read.withState(SandboxState.TERMINATING, NOW, "its time is up"))
        instanceof UpdateResult.Written) {
      taken.add(read.id());
    }
  }

  @Test
  void concurrentTouchesDoNotDeadlock() throws InterruptedException {
    List<SandboxEntry> all = manyRunning("t", 50, b -> b);
    AtomicInteger tick = new AtomicInteger();

    inThreads(
        8,
        () -> {
          for (int i = 0; i < 20; i++) {
            Instant now = NOW.plusSeconds(tick.incrementAndGet());
            ledger
                .sandboxes()
                .touch(
                    all.stream()
                        .collect(java.util.stream.Collectors.toMap(SandboxEntry::id, e -> now)));
          }
          return true;
        });

    for (SandboxEntry entry : all) {
      assertThat(ledger.sandboxes().find(entry.id()).orElseThrow().lastActivity())
          .isEqualTo(NOW.plusSeconds(160));
    }
  }
}
