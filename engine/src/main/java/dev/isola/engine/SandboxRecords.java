package dev.isola.engine;

import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.lifecycle.Quarantine;
import dev.isola.engine.lifecycle.SandboxRecorder;
import java.time.Duration;

/** The records of sandboxes in the ledger, and the events that they cause. */
final class SandboxRecords {
  /** How soon a server notices the events of others. */
  private static final Duration SHARED_POLL_INTERVAL = Duration.ofMillis(200);

  final EventLog events;
  final SandboxRecorder recorder;
  final Quarantine quarantine;

  SandboxRecords(EngineContext context) {
    events =
        context.ownership().server().isPresent()
            ? new EventLog(context.ledger(), SHARED_POLL_INTERVAL)
            : new EventLog(context.ledger());
    recorder = new SandboxRecorder(context.ledger(), events, context.ownership(), context.clock());
    quarantine = new Quarantine(events, context.clock(), context.log());
  }
}
