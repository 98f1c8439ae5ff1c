package dev.isola.simulation;

import dev.isola.spi.SandboxState;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;

/**
 * Destroys a sandbox as the engine does: recorded as terminating, removed from its provider,
 * recorded as destroyed. A failure leaves the record, and the reconciliation tries again.
 */
record Destruction(SimulatedServer server, Operation operation) {

  /** Records that a sandbox ends, unless its record has changed, and removes it. */
  void begin(SandboxEntry entry, String cause, Runnable done) {
    server.write(
        operation,
        entry.withState(SandboxState.TERMINATING, server.clock(), cause),
        result -> {
          if (result instanceof UpdateResult.Written(SandboxEntry terminating)) {
            finish(terminating, done);
          } else {
            done.run();
          }
        },
        _ -> done.run());
  }

  /** Removes a sandbox that is recorded as terminating. */
  void finish(SandboxEntry terminating, Runnable done) {
    server
        .world
        .backend(terminating)
        .destroy(
            server,
            terminating.id(),
            removed -> {
              if (removed) {
                read(terminating, done);
              } else {
                done.run();
              }
            });
  }

  private void read(SandboxEntry terminating, Runnable done) {
    server.database.call(
        operation,
        ledger -> ledger.sandboxes().find(terminating.id()).orElseThrow(),
        current -> {
          if (current.state() == SandboxState.TERMINATING) {
            server.write(
                operation,
                current.withState(SandboxState.DESTROYED, server.clock()),
                _ -> {
                  server.drop(terminating.id());
                  done.run();
                },
                _ -> done.run());
          } else {
            done.run();
          }
        },
        _ -> done.run());
  }
}
