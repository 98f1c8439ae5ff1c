package dev.isola.engine.lifecycle;

import dev.isola.engine.Log;
import dev.isola.engine.admission.Admission;
import dev.isola.engine.admission.Grant;
import dev.isola.engine.admission.Resources;
import dev.isola.engine.registry.Registry;
import dev.isola.spi.Destroy;
import dev.isola.spi.Sandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Sandboxes that rest without being at their provider. First it is written that one rests, so that
 * whoever asks for it waits; then its files are kept; then it is written as what; and only then is
 * it destroyed. It comes back in the opposite order. What a crash leaves in between, either still
 * runs or is kept.
 */
public final class Hibernation {
  /** Two that have the same one wait for each other now and then. */
  private static final int TURNS = 256;

  /**
   * When a sandbox is tried again that was to be suspended, since its time is up, and could not.
   */
  static final Duration RETRY = Duration.ofMinutes(1);

  private final Book book;
  private final Living living;
  private final Registry registry;
  private final Admission admission;
  private final Keeping keeping;
  private final InstantSource clock;
  private final Log log;
  private final List<ReentrantLock> turns =
      Stream.generate(ReentrantLock::new).limit(TURNS).toList();

  public Hibernation(
      Book book,
      Living living,
      Registry registry,
      Admission admission,
      Keeping keeping,
      InstantSource clock,
      Log log) {
    this.book = book;
    this.living = living;
    this.registry = registry;
    this.admission = admission;
    this.keeping = keeping;
    this.clock = clock;
    this.log = log;
  }

  private ReentrantLock turn(SandboxId id) {
    return turns.get(Math.floorMod(id.hashCode(), TURNS));
  }

  /**
   * Lets a sandbox rest without its provider, unless somebody was first; that takes a while, and
   * nobody waits for it here.
   */
  void begin(SandboxEntry entry, boolean expired) {
    SandboxId id = entry.id();
    living.begin(id); // nobody is to put in order what is not finished
    Optional<SandboxEntry> resting =
        book.write(
            entry,
            Rest.of(book.moved(entry, SandboxState.STOPPED, Resting.why(entry, expired)), expired));
    if (resting.isEmpty()) {
      living.made(id);
      return;
    }
    living.askTheLedger(id);
    Thread.ofVirtual()
        .name("isola-rest-" + id)
        .start(
            () -> {
              ReentrantLock turn = turn(id);
              turn.lock();
              try {
                leave(resting.get());
              } finally {
                living.made(id);
                turn.unlock();
              }
            });
  }

  private void leave(SandboxEntry resting) {
    SandboxId id = resting.id();
    try {
      String kept = keeping.keep(resting);
      book.change(id, current -> Rest.is(current) ? Rest.kept(current, kept) : current);
      registry.get(resting.provider()).destroy(id, Destroy.FORCE);
      living.drop(id);
    } catch (RuntimeException e) {
      log.warning("sandbox " + id + " is not kept and goes on: " + e.getMessage());
      goOn(resting);
    }
  }

  /** One that cannot be suspended is not thrown away for that. */
  void goOn(SandboxEntry resting) {
    try {
      book.change(
          resting.id(),
          current ->
              Rest.is(current) && Rest.keptAs(current).isEmpty()
                  ? Rest.failed(
                      book.moved(current, SandboxState.RUNNING, null), clock.instant(), RETRY)
                  : current);
    } catch (SandboxException gone) {
      log.warning("what became of sandbox " + resting.id() + " is not known yet");
    }
  }

  /**
   * Makes a sandbox once more that rests without its provider, or waits for it until it does.
   *
   * @return the entry of one that runs, or is paused or stopped at its provider
   */
  public SandboxEntry wake(SandboxId id) {
    ReentrantLock turn = turn(id);
    turn.lock();
    try {
      SandboxEntry entry = book.need(id);
      Optional<String> kept = Rest.keptAs(entry);
      return entry.state() == SandboxState.STOPPED && kept.isPresent()
          ? bringBack(entry, kept.get())
          : entry;
    } finally {
      turn.unlock();
    }
  }

  /**
   * Removes what a provider still has of a sandbox that is kept as a snapshot. While a request
   * brings the sandbox back nothing is removed: what it makes anew is not what was left.
   */
  public void discard(SandboxId id) {
    ReentrantLock turn = turn(id);
    if (!turn.tryLock()) {
      return; // the next reconciliation looks again
    }
    try {
      SandboxEntry entry = book.need(id);
      if (entry.state() == SandboxState.STOPPED && Rest.keptAs(entry).isPresent()) {
        registry.get(entry.provider()).destroy(id, Destroy.FORCE);
      }
    } finally {
      turn.unlock();
    }
  }

  private SandboxEntry bringBack(SandboxEntry entry, String kept) {
    SandboxId id = entry.id();
    Grant grant = admission.admit(Resources.of(SpecText.read(entry.spec(), id).limits()));
    boolean made = false;
    living.begin(id);
    try {
      registry.get(entry.provider()).destroy(id, Destroy.FORCE); // what a crash may have left
      Sandbox sandbox = keeping.bringBack(entry, kept);
      SandboxEntry running =
          Rest.over(book.moved(entry, SandboxState.RUNNING, null), clock.instant());
      Optional<SandboxEntry> stored = book.write(entry, running);
      if (stored.isEmpty()) {
        registry.get(entry.provider()).destroy(id, Destroy.FORCE);
        throw Fault.of(
                ErrorCode.CONFLICT,
                "something else became of sandbox " + id + " while it was brought back",
                "look what state it is in, and try again")
            .sandbox(id)
            .exception();
      }
      living.keep(sandbox);
      living.keep(id, grant);
      made = true;
      keeping.forget(kept);
      return stored.get();
    } finally {
      living.made(id);
      if (!made) {
        grant.close();
      }
    }
  }
}
