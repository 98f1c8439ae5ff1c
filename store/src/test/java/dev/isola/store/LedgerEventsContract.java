package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Events and transactions. */
abstract class LedgerEventsContract extends LedgerContract {

  LedgerEventsContract(TestDatabase database) {
    super(database);
  }

  @Test
  void numbersStartAtOneAndContinueAfterReopening() {
    assertThat(ledger.events().last()).isZero();
    assertThat(ledger.events().after(0, 10)).isEmpty();

    LedgerEvent first = ledger.events().append(event("a", "created"));
    LedgerEvent second =
        ledger.events().append(new NewEvent(Optional.empty(), "provider.down", "{\"x\":[1]}", NOW));

    assertThat(first.number()).isEqualTo(1);
    assertThat(second.number()).isEqualTo(2);
    reopen();
    assertThat(ledger.events().last()).isEqualTo(2);
    assertThat(ledger.events().after(0, 10)).containsExactly(first, second);
    assertThat(ledger.events().after(0, 1)).containsExactly(first);
    assertThat(ledger.events().after(1, 10)).containsExactly(second);
    assertThat(ledger.events().append(event("a", "x")).number()).isEqualTo(3);
  }

  @Test
  void purgeKeepsTheNumbering() {
    ledger.events().append(event("a", "old"));
    ledger.events().append(NewEvent.of(id("a"), "new", "{}", NOW.plusSeconds(5)));

    assertThat(ledger.events().purge(NOW.plusSeconds(1))).isEqualTo(1);
    assertThat(ledger.events().after(0, 10)).extracting(LedgerEvent::number).containsExactly(2L);
    ledger.events().purge(NOW.plusSeconds(9));
    assertThat(ledger.events().last()).isEqualTo(2);
    assertThat(ledger.events().append(event("a", "x")).number()).isEqualTo(3);
  }

  @Test
  void transactionCommitsAllOrNothing() {
    SandboxEntry entry = running("a", b -> b);
    ledger.atomically(
        parts -> {
          written(parts.sandboxes().update(entry.withState(SandboxState.PAUSED, NOW)));
          // The transaction sees its own writes.
          assertThat(parts.sandboxes().find(id("a")).orElseThrow().state())
              .isEqualTo(SandboxState.PAUSED);
          return parts.events().append(event("a", "paused"));
        });
    SandboxEntry paused = ledger.sandboxes().find(id("a")).orElseThrow();

    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(
            () ->
                ledger.atomically(
                    parts -> {
                      parts.sandboxes().insert(intent("b").build());
                      written(
                          parts.sandboxes().update(paused.withState(SandboxState.RUNNING, NOW)));
                      parts.idempotency().claim("", "k", "h", id("b"), NOW);
                      parts.settings().put("s", "n", "v");
                      parts.events().append(event("a", "running"));
                      throw new IllegalStateException("no");
                    }))
        .withMessage("no");
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(
            () ->
                ledger.atomically(
                    parts -> {
                      parts.events().append(event("a", "twice"));
                      return parts.sandboxes().insert(intent("a").build());
                    }));

    assertThat(ledger.events().after(0, 10))
        .extracting(LedgerEvent::type)
        .containsExactly("paused");
    assertThat(ledger.sandboxes().find(id("a"))).contains(paused);
    assertThat(ledger.sandboxes().find(id("b"))).isEmpty();
    assertThat(ledger.settings().get("s", "n")).isEmpty();
    assertThat(ledger.idempotency().claim("", "k", "h", id("b"), NOW))
        .isEqualTo(new KeyClaim.New());
    assertThat(ledger.events().append(event("a", "next")).number()).isEqualTo(2);
  }

  @Test
  void readersMissNoEventDuringConcurrentAppends() throws InterruptedException {
    int writers = 8;
    int each = 250;
    AtomicInteger rolledBack = new AtomicInteger();
    List<Callable<List<Long>>> work = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      work.add(() -> write(each, rolledBack));
    }
    for (int r = 0; r < 3; r++) {
      work.add(() -> readUntil((long) writers * each));
    }

    List<List<Long>> results = together(work);

    List<Long> expected = LongStream.rangeClosed(1, (long) writers * each).boxed().toList();
    for (List<Long> seen : results.subList(writers, results.size())) {
      assertThat(seen).isEqualTo(expected);
    }
    assertThat(rolledBack).hasPositiveValue();
  }

  private List<Long> write(int count, AtomicInteger rolledBack) {
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(ledger.events().append(event("a", "x")).number());
      if (i % 10 == 0) {
        // A rolled-back number must not leave a gap.
        assertThatExceptionOfType(IllegalStateException.class)
            .isThrownBy(
                () ->
                    ledger.atomically(
                        parts -> {
                          parts.events().append(event("a", "undone"));
                          throw new IllegalStateException("undo");
                        }));
        rolledBack.incrementAndGet();
      }
    }
    return numbers;
  }

  private List<Long> readUntil(long last) {
    List<Long> seen = new ArrayList<>();
    while (seen.isEmpty() || seen.getLast() < last) {
      long after = seen.isEmpty() ? 0 : seen.getLast();
      List<LedgerEvent> more = ledger.events().after(after, 7);
      more.forEach(event -> seen.add(event.number()));
      if (more.isEmpty()) {
        // Spinning virtual threads would keep the writers from their carriers.
        LockSupport.parkNanos(200_000);
      }
    }
    return seen;
  }
}
