package dev.isola.store;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Servers with their leases, by the clock of the database, and the tasks that they claim. */
public final class InMemoryServers implements ServerEntries {
  private final InMemoryLedger ledger;
  private final InstantSource clock;
  private final TreeMap<String, ServerEntry> servers = new TreeMap<>();
  private final Map<String, Instant> tasks = new HashMap<>();
  private boolean leasesAreIgnored;

  InMemoryServers(InMemoryLedger ledger, InstantSource clock) {
    this.ledger = ledger;
    this.clock = clock;
  }

  /** Plants a fault: sandboxes are taken over from servers whose leases are valid. */
  public void plantTakeOverOfLiveServers() {
    leasesAreIgnored = true;
  }

  @Override
  public void register(
      String name, String incarnation, String url, String version, Duration lease) {
    Instant now = clock.instant();
    ServerEntry _ =
        ledger.locked(
            () ->
                set(
                    new ServerEntry(
                        name, incarnation, url, version, now, now.plus(lease), "", true)));
  }

  private ServerEntry set(ServerEntry entry) {
    servers.put(entry.name(), entry);
    return entry;
  }

  @Override
  public LeaseRenewal renew(String name, String incarnation, Duration lease, String reserved) {
    return ledger.locked(
        () -> {
          ServerEntry known = servers.get(name);
          if (known == null || !known.incarnation().equals(incarnation)) {
            return LeaseRenewal.REPLACED;
          }
          boolean valid = isValid(known);
          set(until(known, clock.instant().plus(lease), reserved));
          return valid ? LeaseRenewal.RENEWED : LeaseRenewal.LAPSED;
        });
  }

  private static ServerEntry until(ServerEntry entry, Instant end, String reserved) {
    return new ServerEntry(
        entry.name(),
        entry.incarnation(),
        entry.url(),
        entry.version(),
        entry.startedAt(),
        end,
        reserved,
        entry.alive());
  }

  private boolean isValid(ServerEntry entry) {
    return !entry.leaseUntil().isBefore(clock.instant());
  }

  /** Returns whether a server has a valid lease. */
  public boolean isValid(String name) {
    return ledger.locked(
        () -> {
          ServerEntry entry = servers.get(name);
          return entry != null && isValid(entry);
        });
  }

  /** Returns the servers other than one whose leases have ended. */
  List<String> withoutLease(String other) {
    return servers.values().stream()
        .filter(entry -> leasesAreIgnored || !isValid(entry))
        .map(ServerEntry::name)
        .filter(name -> !name.equals(other))
        .toList();
  }

  @Override
  public void release(String name, String incarnation) {
    boolean _ =
        ledger.locked(
            () -> {
              ServerEntry known = servers.get(name);
              if (known == null || !known.incarnation().equals(incarnation)) {
                return false;
              }
              ServerEntry _ = set(until(known, Instant.EPOCH, known.reserved()));
              return true;
            });
  }

  @Override
  public List<ServerEntry> all() {
    return ledger.locked(
        () ->
            servers.values().stream()
                .map(
                    entry ->
                        new ServerEntry(
                            entry.name(),
                            entry.incarnation(),
                            entry.url(),
                            entry.version(),
                            entry.startedAt(),
                            entry.leaseUntil(),
                            entry.reserved(),
                            isValid(entry)))
                .toList());
  }

  @Override
  public int forget(Duration age) {
    return ledger.locked(
        () -> {
          Instant limit = clock.instant().minus(age);
          int before = servers.size();
          servers
              .values()
              .removeIf(
                  entry ->
                      entry.leaseUntil().isBefore(limit)
                          && ledger.sandboxes().countOpen(entry.name()) == 0);
          return before - servers.size();
        });
  }

  @Override
  public boolean claimTask(String name, Duration interval) {
    return ledger.locked(
        () -> {
          Instant now = clock.instant();
          boolean free = !tasks.getOrDefault(name, Instant.MIN).isAfter(now);
          if (free) {
            tasks.put(name, now.plus(interval));
          }
          return free;
        });
  }
}
