package dev.isola.engine.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerConfig;
import dev.isola.store.LedgerFiles;
import dev.isola.store.Ledgers;
import dev.isola.store.PoolClaim;
import dev.isola.store.SandboxEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy of a ledger that is in use, restored later. */
class LedgerRestoreTest {
  private static final Instant BACKUP = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant NOW = BACKUP.plusSeconds(3600);
  private static final SandboxId POOLED = new SandboxId("pooled");

  @TempDir Path folder;

  private Ledger copyWithPooledSandbox() throws Exception {
    Path copy = Files.createDirectory(folder.resolve("copy"));
    try (Ledger ledger = Ledgers.open(LedgerConfig.sqlite(folder.resolve("ledger")))) {
      SandboxEntry entry =
          ledger
              .sandboxes()
              .insert(
                  SandboxEntry.intent(POOLED, "{}", "hash", "p", Isolation.CONTAINER, BACKUP)
                      .pooled(true)
                      .build());
      ledger.sandboxes().update(entry.withState(SandboxState.RUNNING, BACKUP));
      LedgerFiles.copy(folder.resolve("ledger"), copy);
      ledger.settings().put("later", "than", "the copy");
    }
    return Ledgers.open(LedgerConfig.sqlite(copy));
  }

  @Test
  void sandboxOfTheWarmPoolIsNotHandedOutAfterARestore() throws Exception {
    try (Ledger ledger = copyWithPooledSandbox()) {
      assertThat(ledger.settings().get("later", "than")).isEmpty();
      LedgerRestore.prepare(ledger, BACKUP, NOW);
      assertThat(ledger.sandboxes().claimPooled(PoolClaim.of("hash", "p", "", NOW))).isEmpty();
      SandboxEntry entry = ledger.sandboxes().find(POOLED).orElseThrow();
      assertThat(entry.pooled()).isFalse();
      assertThat(entry.expiresAt()).contains(NOW.plus(Duration.ofDays(1)));
    }
  }

  @Test
  void gapsAreStoredAndForgotten() throws Exception {
    try (Ledger ledger = copyWithPooledSandbox()) {
      LedgerRestore.prepare(ledger, BACKUP, NOW);
      LedgerRestore.prepare(ledger, BACKUP.plusSeconds(1), NOW.plusSeconds(1));
      assertThat(RestoreGaps.read(ledger).gaps())
          .isEqualTo(
              List.of(
                  new RestoreGaps.Gap(BACKUP, NOW),
                  new RestoreGaps.Gap(BACKUP.plusSeconds(1), NOW.plusSeconds(1))));
      RestoreGaps.forget(ledger);
      assertThat(RestoreGaps.read(ledger)).isEqualTo(RestoreGaps.NONE);
    }
  }
}
