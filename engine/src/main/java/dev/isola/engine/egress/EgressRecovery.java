package dev.isola.engine.egress;

import dev.isola.engine.api.Log;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.EntryFilter;
import dev.isola.store.EntryPage;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;

/**
 * Attaches to the sandboxes in network mode {@code filtered} that an earlier server created: their
 * commands need connections although no client uses them. Until then they are refused.
 */
public final class EgressRecovery {
  private final EgressService service;
  private final Ledger ledger;
  private final LiveSandboxes liveSandboxes;
  private final Log log;

  public EgressRecovery(
      EgressService service, Ledger ledger, LiveSandboxes liveSandboxes, Log log) {
    this.service = service;
    this.ledger = ledger;
    this.liveSandboxes = liveSandboxes;
    this.log = log;
  }

  /** Attaches to running sandboxes that are not attached yet. */
  public void attachAll() {
    EntryFilter filter = EntryFilter.ALL.notDestroyed();
    String after = "";
    while (true) {
      EntryPage page = ledger.sandboxes().list(filter, after, SandboxEntries.MAX_LIMIT);
      page.entries().forEach(this::attach);
      if (page.next().isEmpty() || page.entries().isEmpty()) {
        return;
      }
      after = page.next().get();
    }
  }

  private void attach(SandboxEntry entry) {
    try {
      if (entry.state() == SandboxState.RUNNING
          && !service.isAttached(entry.id())
          && SpecCodec.decode(entry.spec(), entry.id()).spec().network().isFiltered()) {
        liveSandboxes.connect(entry, liveSandboxes.get(entry));
      }
    } catch (SandboxException e) {
      log.warning(
          "the connections of sandbox " + entry.id() + " are refused: " + e.fault().problem());
    }
  }
}
