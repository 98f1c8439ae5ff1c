package dev.isola.engine.peer;

import dev.isola.engine.api.Log;
import dev.isola.spi.SandboxId;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntries;
import dev.isola.store.SandboxEntry;
import dev.isola.store.TakeOver;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Takes over the sandboxes of servers whose lease has ended. Only the sandboxes of providers that
 * every server reaches can be used afterwards; those that ran on the machine of their server are
 * taken over once they have expired, to record their end.
 */
public final class TakeOverTask {
  private static final int BATCH = 100;

  /** A server that returns within this time after the expiry still expires a sandbox itself. */
  private static final Duration EXPIRY_GRACE = Duration.ofMinutes(1);

  private static final Duration EXPIRED_INTERVAL = Duration.ofSeconds(30);

  private final Ledger ledger;
  private final ServerLease lease;
  private final Set<String> shared;
  private final Set<String> all;
  private final InstantSource clock;
  private final Log log;
  private volatile boolean stopped;

  /**
   * @param shared the providers whose sandboxes every server reaches
   * @param all the providers of this server
   */
  public TakeOverTask(
      Ledger ledger,
      ServerLease lease,
      Set<String> shared,
      Set<String> all,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.lease = lease;
    this.shared = Set.copyOf(shared);
    this.all = Set.copyOf(all);
    this.clock = clock;
    this.log = log;
  }

  /** Takes over nothing from now on, because this server gives up its own sandboxes. */
  public void stop() {
    stopped = true;
  }

  /** Takes over some sandboxes, so that other servers get some too. */
  public List<SandboxEntry> run() {
    if (stopped || !lease.isCurrent()) {
      return List.of();
    }
    List<SandboxEntry> taken = ledger.sandboxes().takeOver(TakeOver.some(self(), shared, BATCH));
    if (!taken.isEmpty()) {
      log.info("took over " + taken.size() + " sandboxes of servers that are gone");
    }
    return taken;
  }

  /** Takes over the expired sandboxes of machines whose server is gone. */
  public List<SandboxEntry> runForExpired() {
    return !stopped && lease.claim("expired sandboxes of other servers", EXPIRED_INTERVAL)
        ? ledger
            .sandboxes()
            .takeOver(
                TakeOver.some(self(), all, SandboxEntries.MAX_LIMIT)
                    .expiredBefore(clock.instant().minus(EXPIRY_GRACE)))
        : List.of();
  }

  /** Takes over one sandbox; empty if its owner has a lease, or it is out of reach. */
  public Optional<SandboxEntry> run(SandboxId id) {
    return !stopped && lease.isCurrent()
        ? ledger.sandboxes().takeOver(TakeOver.one(self(), shared, id)).stream().findFirst()
        : Optional.empty();
  }

  private String self() {
    return lease.server().orElseThrow();
  }
}
