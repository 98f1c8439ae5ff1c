package dev.isola.engine.reconcile;

import dev.isola.spi.SandboxState;
import dev.isola.store.EntryFilter;
import dev.isola.store.EntryPage;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Prepares a ledger that was restored from a backup for the next server. */
public final class LedgerRestore {
  /** How long a former sandbox of the warm pool lives if it has no expiry. */
  private static final Duration UNCLAIMED_TTL = Duration.ofDays(1);

  private LedgerRestore() {}

  /**
   * Records the gap between the backup and now, so that the reconciliation does not destroy
   * sandboxes that were created in it. Takes every sandbox out of the warm pool, because a client
   * may have claimed and used it after the backup.
   *
   * @param backup when the backup was made
   */
  public static void prepare(Ledger ledger, Instant backup, Instant now) {
    RestoreGaps gaps = RestoreGaps.read(ledger).with(new RestoreGaps.Gap(backup, now));
    gaps.write(ledger);
    for (SandboxEntry entry : pooled(ledger)) {
      ledger
          .sandboxes()
          .update(
              entry.toBuilder()
                  .pooled(false)
                  .updatedAt(now)
                  .expiresAt(entry.expiresAt().orElse(now.plus(UNCLAIMED_TTL)))
                  .build());
    }
  }

  private static List<SandboxEntry> pooled(Ledger ledger) {
    EntryFilter filter = EntryFilter.ALL.pooled(true).states(SandboxState.RUNNING);
    List<SandboxEntry> all = new ArrayList<>();
    String after = "";
    do {
      EntryPage page = ledger.sandboxes().list(filter, after, SandboxEntries.MAX_LIMIT);
      all.addAll(page.entries());
      after = page.next().orElse("");
    } while (!after.isEmpty());
    return all;
  }
}
