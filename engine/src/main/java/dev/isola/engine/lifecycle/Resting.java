package dev.isola.engine.lifecycle;

import dev.isola.engine.Log;
import dev.isola.engine.registry.ProviderGuard;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.Gone;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.WhenOver;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Lets sandboxes rest instead of ending them, where their spec says so: those that were idle for
 * too long, and those whose time is up. One that rests is paused or stopped like any other, or is
 * not at its provider at all.
 */
public final class Resting {
  private final Book book;
  private final Living living;
  private final Hibernation hibernation;
  private final InstantSource clock;
  private final Log log;

  public Resting(Book book, Living living, Hibernation hibernation, InstantSource clock, Log log) {
    this.book = book;
    this.living = living;
    this.hibernation = hibernation;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Lets a sandbox rest.
   *
   * @param expired whether its time is up; it was idle for too long otherwise
   * @return false when it is to end
   */
  boolean rest(SandboxEntry entry, boolean expired) {
    SandboxSpec spec = SpecText.read(entry.spec(), entry.id());
    WhenOver what = expired ? spec.whenExpired() : spec.whenIdle();
    if (what == WhenOver.DESTROY || entry.pooled()) {
      return false;
    }
    if (entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED) {
      book.write(entry, Rest.of(entry, expired)); // it does already
      return true;
    }
    if (entry.state() != SandboxState.RUNNING) {
      return false;
    }
    try {
      Sandbox sandbox = living.of(entry);
      if (what == WhenOver.SNAPSHOT && sandbox.as(Snapshotting.class).isPresent()) {
        hibernation.begin(entry, expired);
        return true;
      }
      return pause(entry, expired, what, sandbox);
    } catch (Gone e) {
      log.warning("sandbox " + entry.id() + " cannot be suspended and ends: " + e.getMessage());
      return false;
    } catch (RuntimeException e) {
      book.write(entry, Rest.failed(Rest.of(entry, expired), clock.instant(), Hibernation.RETRY));
      log.warning("sandbox " + entry.id() + " cannot be suspended and goes on: " + e.getMessage());
      return true;
    }
  }

  /** Written first: who wakes one that is written and not paused does no harm. */
  private boolean pause(SandboxEntry entry, boolean expired, WhenOver what, Sandbox sandbox) {
    Optional<Pausing> pausing = sandbox.as(Pausing.class);
    if (pausing.isEmpty()) {
      return false;
    }
    PauseKind kind =
        what == WhenOver.PAUSE && pausing.get().kinds().contains(PauseKind.MEMORY)
            ? PauseKind.MEMORY
            : PauseKind.FILESYSTEM;
    if (!pausing.get().kinds().contains(kind)) {
      return false;
    }
    SandboxState state = kind == PauseKind.MEMORY ? SandboxState.PAUSED : SandboxState.STOPPED;
    Optional<SandboxEntry> stored =
        book.write(entry, Rest.of(book.moved(entry, state, why(entry, expired)), expired));
    stored.ifPresent(
        suspended -> pause(suspended, expired, sandbox, () -> pausing.get().pause(kind)));
    return true; // when another change was first, it is not idle any more
  }

  private void pause(SandboxEntry suspended, boolean expired, Sandbox sandbox, Runnable pause) {
    try {
      if (expired) { // a frozen one would end as soon as it goes on
        guard(suspended).run("renew", () -> Deadlines.tell(sandbox, Deadlines.AT_REST));
      }
      guard(suspended).run("pause", pause);
    } catch (RuntimeException e) {
      hibernation.goOn(suspended);
      log.warning("sandbox " + suspended.id() + " cannot be paused and goes on: " + e.getMessage());
    }
  }

  static String why(SandboxEntry entry, boolean expired) {
    return expired ? "its time was up" : "it was idle for " + entry.idleTimeout().orElseThrow();
  }

  /** Returns an entry as it is once the sandbox runs. */
  public SandboxEntry running(SandboxEntry entry) {
    return Rest.over(book.moved(entry, SandboxState.RUNNING, null), clock.instant());
  }

  /** Tells a sandbox that was woken for how long it may live now. */
  public void tell(SandboxEntry before, SandboxEntry woken, Sandbox sandbox) {
    SandboxSpec spec = SpecText.read(woken.spec(), woken.id());
    if (Rest.is(before) && spec.ttl().isPresent() && spec.whenExpired() != WhenOver.DESTROY) {
      Duration time = Deadlines.given(spec, spec.ttl().get());
      guard(woken).run("renew", () -> Deadlines.tell(sandbox, time));
    }
  }

  private static ProviderGuard guard(SandboxEntry entry) {
    return new ProviderGuard(entry.provider());
  }
}
