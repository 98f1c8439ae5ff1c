package dev.isola.engine.lifecycle;

import dev.isola.store.Ledger;
import java.time.Duration;
import java.time.InstantSource;

/**
 * Forgets sandboxes that ended longer ago than the operator keeps their records, with all that is
 * stored of them: spec, history, events and idempotency keys.
 *
 * @param kept how long after its end a sandbox is remembered
 */
public record Retention(
    Ledger ledger, SecretEnvStore secrets, Duration maxAge, InstantSource clock) {

  /** Returns how many sandboxes were forgotten. */
  public int purge() {
    secrets.removeOrphans();
    return ledger.sandboxes().purge(clock.instant().minus(maxAge));
  }
}
