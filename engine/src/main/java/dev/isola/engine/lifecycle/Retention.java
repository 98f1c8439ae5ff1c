package dev.isola.engine.lifecycle;

import dev.isola.store.DiskReserve;
import dev.isola.store.Ledger;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Purges the records of sandboxes that were destroyed longer ago than the retention period: spec,
 * history, events and idempotency keys.
 *
 * @param maxAge how long the records of a destroyed sandbox are kept
 */
public record Retention(
    Ledger ledger, SecretEnvStore secrets, Duration maxAge, InstantSource clock) {

  /** Purges old records and returns the number of sandboxes removed. */
  public int purge() {
    secrets.removeOrphans();
    return DiskReserve.freeing(() -> ledger.sandboxes().purge(clock.instant().minus(maxAge)));
  }
}
