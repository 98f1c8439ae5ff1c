package dev.isola.engine.lifecycle;

import dev.isola.engine.Log;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.WhenIdle;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Lets idle sandboxes rest instead of ending them, where their spec says so. One that rests is
 * paused or stopped like any other, has no idle time meanwhile, and is woken by the next request.
 */
public final class Resting {
  /** The label that has the idle time of one that rests; no caller's. */
  private static final String IDLE = "isola.rests-after-ms";

  private final Book book;
  private final Living living;
  private final InstantSource clock;
  private final Log log;

  public Resting(Book book, Living living, InstantSource clock, Log log) {
    this.book = book;
    this.living = living;
    this.clock = clock;
    this.log = log;
  }

  /** Tells whether a sandbox rests, and so is woken by a request. */
  public static boolean rests(SandboxEntry entry) {
    return entry.labels().containsKey(IDLE);
  }

  /** Returns the entry of one that rested and runs again. */
  public static SandboxEntry woken(SandboxEntry entry, Instant now) {
    String idle = entry.labels().get(IDLE);
    if (idle == null) {
      return entry;
    }
    Map<String, String> labels = new TreeMap<>(entry.labels());
    labels.remove(IDLE);
    return entry.toBuilder()
        .labels(labels)
        .idleTimeout(Duration.ofMillis(Long.parseLong(idle)))
        .lastActivity(now)
        .build();
  }

  /**
   * Lets a sandbox rest that was idle for too long.
   *
   * @return false when it is to end
   */
  boolean rest(SandboxEntry entry) {
    WhenIdle what = SpecText.read(entry.spec(), entry.id()).whenIdle();
    if (what == WhenIdle.DESTROY
        || entry.state() != SandboxState.RUNNING
        || entry.idleTimeout().isEmpty()) {
      return false;
    }
    try {
      Optional<Pausing> pausing = living.of(entry).as(Pausing.class);
      return pausing.isPresent() && rest(entry, what, pausing.get());
    } catch (SandboxException e) {
      log.warning("sandbox " + entry.id() + " cannot rest and ends: " + e.fault().what());
      return false;
    }
  }

  /** Written first: who wakes one that is written and not paused does no harm. */
  private boolean rest(SandboxEntry entry, WhenIdle what, Pausing pausing) {
    PauseKind kind =
        what == WhenIdle.PAUSE && pausing.kinds().contains(PauseKind.MEMORY)
            ? PauseKind.MEMORY
            : PauseKind.FILESYSTEM;
    if (!pausing.kinds().contains(kind)) {
      return false;
    }
    SandboxState state = kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
    Duration idle = entry.idleTimeout().orElseThrow();
    SandboxEntry resting =
        book.moved(entry, state, "it was idle for " + idle).toBuilder()
            .label(IDLE, Long.toString(idle.toMillis()))
            .idleTimeout(null)
            .build();
    Optional<SandboxEntry> stored = book.write(entry, resting);
    if (stored.isPresent()) {
      pausing.pause(kind);
    }
    return true; // when somebody was first, it is not idle any more
  }

  /** Returns an entry as it is once the sandbox runs. */
  public SandboxEntry running(SandboxEntry entry) {
    return woken(book.moved(entry, SandboxState.RUNNING, null), clock.instant());
  }
}
