package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The event log. */
final class InMemoryEvents implements LedgerEvents {
  private final InMemoryLedger ledger;
  private final TreeMap<Long, LedgerEvent> events = new TreeMap<>();
  private long last;

  InMemoryEvents(InMemoryLedger ledger) {
    this.ledger = ledger;
  }

  @Override
  public void append(NewEvent event) {
    LedgerEvent _ =
        ledger.locked(
            () -> {
              long number = ++last;
              LedgerEvent stored =
                  new LedgerEvent(number, event.sandbox(), event.type(), event.data(), event.at());
              events.put(number, stored);
              ledger.onRollback(
                  () -> {
                    events.remove(number);
                    last = number - 1;
                  });
              return stored;
            });
  }

  @Override
  public List<LedgerEvent> after(long number, int limit) {
    return ledger.locked(
        () ->
            new ArrayList<>(events.tailMap(number, false).values().stream().limit(limit).toList()));
  }

  @Override
  public long last() {
    return ledger.locked(() -> last);
  }

  @Override
  public int purge(Instant before) {
    return ledger.locked(() -> removeIf(event -> event.at().isBefore(before)));
  }

  void removeOf(Set<SandboxId> sandboxes) {
    int _ = removeIf(event -> event.sandbox().filter(sandboxes::contains).isPresent());
  }

  private int removeIf(java.util.function.Predicate<LedgerEvent> condition) {
    List<Map.Entry<Long, LedgerEvent>> old =
        events.entrySet().stream().filter(one -> condition.test(one.getValue())).toList();
    old.forEach(one -> events.remove(one.getKey()));
    ledger.onRollback(() -> old.forEach(one -> events.put(one.getKey(), one.getValue())));
    return old.size();
  }
}
