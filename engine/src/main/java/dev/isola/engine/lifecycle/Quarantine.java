package dev.isola.engine.lifecycle;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sandboxes whose records are unreadable. The engine does not expire, suspend, attach to or
 * remove them. They are shown in state {@code error}, and an operator can destroy them. Each is
 * reported once by an event, a log line and a metric.
 */
public final class Quarantine {

  private final EventLog events;
  private final InstantSource clock;
  private final Log log;
  private final Set<SandboxId> held = ConcurrentHashMap.newKeySet();

  public Quarantine(EventLog events, InstantSource clock, Log log) {
    this.events = events;
    this.clock = clock;
    this.log = log;
  }

  /** Returns whether the record of a sandbox is unreadable, and reports it the first time. */
  public boolean holds(SandboxEntry entry) {
    Optional<String> why = reason(entry);
    why.ifPresent(text -> report(entry.id(), text));
    return why.isPresent();
  }

  /** Returns the entry to show: in state {@code error} if it is unreadable, unchanged otherwise. */
  public SandboxEntry asError(SandboxEntry entry) {
    return reason(entry)
        .map(
            why ->
                entry.toBuilder()
                    .state(
                        entry.state() == SandboxState.DESTROYED
                            ? SandboxState.DESTROYED
                            : SandboxState.ERROR)
                    .cause(why)
                    .damage(why)
                    .build())
        .orElse(entry);
  }

  /** Forgets the sandboxes that are not in {@code open}. */
  public void retain(Collection<SandboxId> open) {
    held.retainAll(Set.copyOf(open));
  }

  /** Returns the number of quarantined sandboxes. */
  public int size() {
    return held.size();
  }

  private static Optional<String> reason(SandboxEntry entry) {
    if (entry.damage().isPresent()) {
      return entry.damage();
    }
    try {
      var _ = SpecCodec.decode(entry.spec(), entry.id());
      return Optional.empty();
    } catch (SandboxException e) {
      return Optional.of(e.fault().problem());
    }
  }

  private void report(SandboxId id, String why) {
    if (!held.add(id)) {
      return;
    }
    log.warning(
        "sandbox " + id + " is quarantined: " + why + "; destroy the sandbox to remove its record");
    try {
      events.append(
          NewEvent.of(id, "quarantine", Json.text(Map.of("cause", why)), clock.instant()));
    } catch (SandboxException e) {
      held.remove(id); // the next check reports it
    }
  }
}
