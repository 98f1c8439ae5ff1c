package dev.isola.engine.ledger;

import dev.isola.engine.api.Event;
import dev.isola.engine.api.SandboxFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.StateCount;
import dev.isola.store.SandboxEntry;
import java.util.Optional;

/** Translates between the ledger's records and what the engine's callers see. */
public final class Views {
  private Views() {}

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
        entry.damage());
  }

  public static Event of(dev.isola.store.Event event) {
    return new Event(event.number(), event.sandbox(), event.type(), event.data(), event.at());
  }

  public static StateCount of(dev.isola.store.StateCount count) {
    return new StateCount(count.provider(), count.state(), count.pooled(), count.count());
  }

  /** Returns the ledger's own filter. */
  public static dev.isola.store.SandboxFilter of(SandboxFilter filter) {
    return new dev.isola.store.SandboxFilter(
        Optional.empty(),
        filter.states(),
        filter.provider(),
        filter.labels(),
        filter.pooled(),
        filter.startedAfter(),
        filter.newestFirst());
  }
}
