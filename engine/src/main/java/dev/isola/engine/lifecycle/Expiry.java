package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Sandboxes;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes down sandboxes whose time is up or that were idle too long, or lets those rest. Who renews
 * one at the same moment and who takes it down both write its entry, and only one of them can.
 */
public final class Expiry {
  private static final int AT_ONCE = 100;
  private static final int TOGETHER = 8;

  private final Ledger ledger;
  private final Book book;
  private final Ender ender;
  private final Resting resting;
  private final Uses uses;
  private final Quarantine quarantine;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Instant> used = new ConcurrentHashMap<>();

  public Expiry(
      Ledger ledger,
      Book book,
      Ender ender,
      Resting resting,
      Uses uses,
      Quarantine quarantine,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.book = book;
    this.ender = ender;
    this.resting = resting;
    this.uses = uses;
    this.quarantine = quarantine;
    this.clock = clock;
    this.log = log;
  }

  /** Notes that a sandbox is in use; written with the next sweep. */
  public void used(SandboxId id) {
    used.put(id, clock.instant());
  }

  /** Takes down what is due now; returns how many. */
  public int sweep() {
    flush();
    Instant now = clock.instant();
    // Those in quarantine stay due, and must not keep the others from being found.
    int most = Math.min(Sandboxes.MAX_LIMIT, AT_ONCE + quarantine.size());
    List<SandboxEntry> due =
        ledger.sandboxes().expired(now, most).stream()
            .filter(entry -> !quarantine.holds(entry))
            .toList();
    return due.isEmpty() ? 0 : end(due, now);
  }

  /** Several at a time: a provider that hangs does not keep those of others alive. */
  private int end(List<SandboxEntry> due, Instant now) {
    AtomicInteger ended = new AtomicInteger();
    try (ExecutorService workers =
        Executors.newFixedThreadPool(
            Math.min(TOGETHER, due.size()),
            Thread.ofVirtual().name("isola-expiry-", 0).factory())) {
      for (SandboxEntry entry : due) {
        workers.execute(
            () -> {
              if (attempt(entry, now)) {
                ended.incrementAndGet();
              }
            });
      }
    }
    return ended.get();
  }

  /** What goes wrong with one sandbox does not keep the others alive. */
  private boolean attempt(SandboxEntry entry, Instant now) {
    try {
      return end(entry, now);
    } catch (RuntimeException e) {
      log.warning("sandbox " + entry.id() + " is due and was not taken down: " + e);
      return false;
    }
  }

  private void flush() {
    Map<SandboxId, Instant> noted = new HashMap<>(used);
    if (!noted.isEmpty()) {
      ledger.sandboxes().touch(noted);
      Failpoint.EXPIRY_NOTED.reach();
      noted.forEach(used::remove); // only what has not been noted anew
    }
  }

  private boolean end(SandboxEntry entry, Instant now) {
    Failpoint.EXPIRY_FOUND.reach();
    boolean timeIsUp = entry.expiresAt().filter(end -> !end.isAfter(now)).isPresent();
    if (!timeIsUp && uses.isOpen(entry.id())) {
      used(entry.id());
      return false;
    }
    if (resting.rest(entry, timeIsUp)) {
      return false;
    }
    String why = Resting.why(entry, timeIsUp);
    return book.write(entry, book.moved(entry, SandboxState.TERMINATING, why))
        .map(this::finish)
        .orElse(false);
  }

  private boolean finish(SandboxEntry terminating) {
    try {
      Failpoint.EXPIRY_CLAIMED.reach();
      ender.finish(terminating, Destroy.FORCE);
      Failpoint.EXPIRY_ENDED.reach();
      return true;
    } catch (SandboxException e) {
      log.warning(
          "sandbox "
              + terminating.id()
              + " expired and cannot be destroyed yet: "
              + e.fault().what());
      return false;
    }
  }
}
