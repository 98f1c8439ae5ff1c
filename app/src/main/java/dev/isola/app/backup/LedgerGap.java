package dev.isola.app.backup;

import dev.isola.app.serve.SharedInstallation;
import dev.isola.engine.reconcile.LedgerRestore;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.ServerEntry;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * Marks the time that a ledger knows nothing about, after another program such as {@code
 * pg_restore} has restored it.
 */
record LedgerGap(Ledger ledger, InstantSource clock) {

  /**
   * Marks the time from the backup until now.
   *
   * @throws dev.isola.spi.error.InvalidRequest if the time is in the future
   * @throws dev.isola.spi.error.Conflict if a server uses the ledger, or nothing was restored
   */
  void mark(Instant backup) {
    Instant now = clock.instant();
    if (backup.isAfter(now)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the backup cannot have begun at " + backup + ": it is " + now,
              "name the time at which pg_dump began, such as 2026-01-31T02:00:00Z")
          .exception();
    }
    if (!SharedInstallation.isRecorded(ledger)) {
      throw conflict(
          "the ledger is not that of an installation: no server has ever used it",
          "drop the schema isola, restore the backup of the database with pg_restore, and run this"
              + " command after that");
    }
    List<String> alive =
        ledger.servers().all().stream().filter(ServerEntry::alive).map(ServerEntry::name).toList();
    if (!alive.isEmpty()) {
      throw conflict(
          "the servers " + String.join(", ", alive) + " use the ledger",
          "stop them; a lease that was restored from the backup ends within its duration"
              + " (server.lease)");
    }
    LedgerRestore.prepare(ledger, backup, now);
  }

  private static SandboxException conflict(String what, String remedy) {
    return Fault.of(ErrorCode.CONFLICT, what + "; no gap was marked", remedy).exception();
  }
}
