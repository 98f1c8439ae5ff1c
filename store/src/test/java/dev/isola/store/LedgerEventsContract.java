package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.SandboxState;
import dev.isola.spi.error.Conflict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
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

    ledger.events().append(event("a", "created"));
    ledger.events().append(new NewEvent(Optional.empty(), "provider.down", "{\"x\":[1]}", NOW));
    LedgerEvent first = new LedgerEvent(1, Optional.of(id("a")), "created", "{}", NOW);
    LedgerEvent second = new LedgerEvent(2, Optional.empty(), "provider.down", "{\"x\":[1]}", NOW);

    reopen();
    assertThat(ledger.events().last()).isEqualTo(2);
    assertThat(ledger.events().after(0, 10)).containsExactly(first, second);
    assertThat(ledger.events().after(0, 1)).containsExactly(first);
    assertThat(ledger.events().after(1, 10)).containsExactly(second);
    ledger.events().append(event("a", "x"));
    assertThat(ledger.events().last()).isEqualTo(3);
  }

  @Test
  void purgeKeepsTheNumbering() {
    ledger.events().append(event("a", "old"));
    ledger.events().append(NewEvent.of(id("a"), "new", "{}", NOW.plusSeconds(5)));

    assertThat(ledger.events().purge(NOW.plusSeconds(1))).isEqualTo(1);
    assertThat(ledger.events().after(0, 10)).extracting(LedgerEvent::number).containsExactly(2L);
    ledger.events().purge(NOW.plusSeconds(9));
    assertThat(ledger.events().last()).isEqualTo(2);
    ledger.events().append(event("a", "x"));
    assertThat(ledger.events().last()).isEqualTo(3);
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
          parts.events().append(event("a", "paused"));
          return true;
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
    ledger.events().append(event("a", "next"));
    assertThat(ledger.events().last()).isEqualTo(2);
  }

  @Test
  void readersMissNoEventDuringConcurrentAppends() throws InterruptedException {
    int writers = 8;
    int each = 250;
    AtomicInteger rolledBack = new AtomicInteger();
    List<Callable<List<LedgerEvent>>> work = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      String writer = "w" + w;
      work.add(() -> write(writer, each, rolledBack));
    }
    for (int r = 0; r < 3; r++) {
      work.add(() -> readUntil((long) writers * each));
    }

    List<List<LedgerEvent>> results = together(work);

    List<Long> expected = LongStream.rangeClosed(1, (long) writers * each).boxed().toList();
    for (List<LedgerEvent> seen : results.subList(writers, results.size())) {
      assertThat(seen).extracting(LedgerEvent::number).isEqualTo(expected);
      assertThat(seen).isEqualTo(results.getLast());
      for (int w = 0; w < writers; w++) {
        String writer = "w" + w;
        assertThat(seen)
            .filteredOn(one -> one.sandbox().orElseThrow().value().equals(writer))
            .as("the order in which a writer appended")
            .extracting(LedgerEvent::type)
            .containsExactlyElementsOf(IntStream.range(0, each).mapToObj(i -> "x" + i).toList());
      }
    }
    assertThat(rolledBack).hasPositiveValue();
  }

  private List<LedgerEvent> write(String writer, int count, AtomicInteger rolledBack) {
    for (int i = 0; i < count; i++) {
      ledger.events().append(event(writer, "x" + i));
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
    return List.of();
  }

  private List<LedgerEvent> readUntil(long last) {
    List<LedgerEvent> seen = new ArrayList<>();
    while (seen.isEmpty() || seen.getLast().number() < last) {
      long after = seen.isEmpty() ? 0 : seen.getLast().number();
      seen.addAll(
          await()
              .atMost(Duration.ofMinutes(1))
              .pollDelay(Duration.ZERO)
              .pollInterval(Duration.ofMillis(1))
              .until(() -> ledger.events().after(after, 7), more -> !more.isEmpty()));
    }
    return seen;
  }
}
