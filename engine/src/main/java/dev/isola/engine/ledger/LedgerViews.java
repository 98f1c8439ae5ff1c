package dev.isola.engine.ledger;

import dev.isola.engine.api.EventView;
import dev.isola.engine.api.SandboxCount;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.store.SandboxEntry;
import java.util.Optional;

/** Converts between ledger records and the values of {@code engine.api}. */
public final class LedgerViews {
  private LedgerViews() {}

  public static SandboxView of(SandboxEntry entry) {
    return new SandboxView(
        entry.id(),
        entry.tenant(),
        entry.spec(),
        entry.provider(),
        entry.isolation(),
        entry.state(),
        entry.createdAt(),
        entry.expiresAt(),
        entry.idleTimeout(),
        entry.lastActivity(),
        entry.warm(),
        entry.pooled(),
        entry.cause(),
        entry.attempts().stream()
            .map(one -> new SandboxView.Attempt(one.provider(), one.reason(), one.at()))
            .toList(),
        entry.labels(),
        entry.name(),
        entry.damage());
  }

  public static EventView of(dev.isola.store.LedgerEvent event) {
    return new EventView(event.number(), event.sandbox(), event.type(), event.data(), event.at());
  }

  public static SandboxCount of(dev.isola.store.EntryCount count) {
    return new SandboxCount(count.provider(), count.state(), count.pooled(), count.count());
  }

  /** Returns the equivalent filter of the ledger. */
  public static dev.isola.store.EntryFilter of(SandboxListFilter filter) {
    return new dev.isola.store.EntryFilter(
        Optional.empty(),
        filter.states(),
        filter.provider(),
        filter.labels(),
        filter.pooled(),
        filter.startedAfter(),
        filter.name(),
        filter.reference(),
        Optional.empty(),
        filter.newestFirst());
  }
}
