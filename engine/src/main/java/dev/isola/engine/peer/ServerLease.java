package dev.isola.engine.peer;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.Resources;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.ServerEntry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The lease of this server. While it is valid, no other server takes over a sandbox of this one. It
 * is renewed well before its end; a server that cannot renew it in time stops trusting what it
 * remembers, and asks the ledger which sandboxes are still its own once it has a lease again.
 */
public final class ServerLease implements Ownership {
  /** The clocks of two machines do not run at exactly the same speed. */
  private static final double TRUSTED_PART = 0.9;

  private final Ledger ledger;
  private final ServerIdentity self;
  private final LongSupplier nanoTime;
  private final Log log;
  private volatile long trustedUntil;
  private volatile boolean replaced;
  private volatile List<ServerEntry> servers = List.of();
  private boolean failing;

  /**
   * @param nanoTime a clock that is never set back, such as {@link System#nanoTime}
   */
  public ServerLease(Ledger ledger, ServerIdentity self, LongSupplier nanoTime, Log log) {
    this.ledger = ledger;
    this.self = self;
    this.nanoTime = nanoTime;
    this.log = log;
    this.trustedUntil = nanoTime.getAsLong() - 1;
  }

  /** Returns how long the lease lasts. */
  public Duration duration() {
    return self.lease();
  }

  /** Records this server with a new lease. */
  public void register() {
    long start = nanoTime.getAsLong();
    ledger
        .leases()
        .register(
            self.name(), self.incarnation(), self.url().toString(), self.version(), self.lease());
    trustFrom(start);
    servers = ledger.leases().all();
  }

  /**
   * Renews the lease.
   *
   * @param lapsed called before the lease is trusted again, if other servers may have taken over
   *     sandboxes
   * @param reserved what this server has reserved, for the others
   */
  public synchronized void renew(Runnable lapsed, Reservations reserved) {
    if (replaced) {
      return;
    }
    long start = nanoTime.getAsLong();
    try {
      switch (ledger
          .leases()
          .renew(self.name(), self.incarnation(), self.lease(), reserved.toText())) {
        case RENEWED -> trustFrom(start);
        case LAPSED -> {
          log.warning("the lease of this server had ended; other servers may own its sandboxes");
          lapsed.run();
          trustFrom(start);
        }
        case REPLACED -> {
          replaced = true;
          log.warning(
              "another server has registered as "
                  + self.name()
                  + "; this one owns no sandboxes any more: stop one of them, and give each its own"
                  + " data folder");
        }
      }
      servers = ledger.leases().all();
      failing = false;
    } catch (SandboxException e) {
      if (!failing) {
        log.warning("the lease of this server could not be renewed: " + e.fault().problem());
      }
      failing = true;
    }
  }

  private void trustFrom(long start) {
    trustedUntil = start + (long) (self.lease().toNanos() * TRUSTED_PART);
  }

  /** Ends the lease, so that other servers take over at once. */
  public void release() {
    trustedUntil = nanoTime.getAsLong() - 1;
    ledger.leases().release(self.name(), self.incarnation());
  }

  @Override
  public Optional<String> server() {
    return Optional.of(self.name());
  }

  @Override
  public boolean isCurrent() {
    return !replaced && nanoTime.getAsLong() - trustedUntil < 0;
  }

  @Override
  public boolean claim(String task, Duration interval) {
    return isCurrent() && ledger.servers().claimTask(task, interval);
  }

  /** Every server has the same part, rounded up, so that each has at least one. */
  @Override
  public int shareOf(int total) {
    int alive = (int) Math.max(1, servers.stream().filter(ServerEntry::alive).count());
    return (total + alive - 1) / alive;
  }

  /** Returns what the other servers have reserved at a provider, as of the last renewal. */
  public Resources reservedElsewhere(String provider) {
    return servers.stream()
        .filter(one -> one.alive() && !one.name().equals(self.name()))
        .map(one -> Reservations.parse(one.reserved()).at(provider))
        .reduce(Resources.NONE, Resources::plus);
  }

  /** Returns the servers as of the last renewal. */
  public List<ServerEntry> servers() {
    return servers;
  }
}
