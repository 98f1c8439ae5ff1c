package dev.isola.engine.lifecycle;

import dev.isola.engine.api.Log;
import dev.isola.engine.registry.Registry;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.store.Failpoint;
import dev.isola.store.SandboxEntry;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Takes sandboxes down. That it is being done is written first: whatever happens then, somebody
 * finishes it.
 */
public final class Ender {
  private final Book book;
  private final Registry registry;
  private final Living living;
  private final SuspensionStorage suspensions;
  private final Secrets secrets;
  private final Log log;

  public Ender(
      Book book,
      Registry registry,
      Living living,
      SuspensionStorage suspensions,
      Secrets secrets,
      Log log) {
    this.book = book;
    this.registry = registry;
    this.living = living;
    this.suspensions = suspensions;
    this.secrets = secrets;
    this.log = log;
  }

  /**
   * Destroys a sandbox and returns when nothing is left of it. Does nothing to one that is gone.
   *
   * @param why what the ledger remembers
   * @throws dev.isola.spi.error.NotFound when there never was one
   */
  public void end(SandboxId id, Destroy how, String why) {
    endIf(id, any -> true, how, why);
  }

  /** Ends a sandbox if it is, at that moment, still what it was taken for. */
  public void endIf(SandboxId id, Predicate<SandboxEntry> still, Destroy how, String why) {
    Failpoint.END_BEGUN.reach();
    SandboxEntry entry =
        book.change(id, current -> still.test(current) ? terminating(current, why) : current);
    if (entry.state() == SandboxState.TERMINATING) {
      finish(entry, how);
    }
  }

  private SandboxEntry terminating(SandboxEntry current, String why) {
    return switch (current.state()) {
      case DESTROYED, TERMINATING -> current;
      case CREATING, RUNNING, PAUSED, STOPPED, ERROR ->
          book.moved(current, SandboxState.TERMINATING, why);
    };
  }

  /** Destroys what is written down as terminating, and writes that it is done. */
  public void finish(SandboxEntry terminating, Destroy how) {
    SandboxId id = terminating.id();
    Failpoint.END_WRITTEN.reach();
    Optional<String> remains = destroy(terminating, how);
    Failpoint.END_DESTROYED.reach();
    living.drop(id);
    Failpoint.END_DROPPED.reach();
    SuspensionState.snapshot(terminating).ifPresent(suspensions::delete);
    book.change(
        id,
        current ->
            current.state() == SandboxState.TERMINATING
                ? book.moved(current, SandboxState.DESTROYED, remains.orElse(null))
                : current);
    secrets.remove(id);
    Failpoint.END_FINISHED.reach();
  }

  /**
   * Destroys a sandbox at its provider. When that fails and yet no process is left, what remains is
   * files: the sandbox is gone for its client and holds no memory or processors. The reconciler
   * finds the remains in the provider's inventory and destroys them until nothing is left.
   *
   * @return why something remains
   */
  private Optional<String> destroy(SandboxEntry terminating, Destroy how) {
    if (terminating.provider().isEmpty()) {
      return Optional.empty(); // a record that could not be read; no provider is known to have it
    }
    Provider provider = registry.get(terminating.provider());
    try {
      provider.destroy(terminating.id(), how);
      return Optional.empty();
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.UNSAVED_WORK || isRunning(provider, terminating.id(), e)) {
        throw e;
      }
      String why =
          terminating.cause().map(cause -> cause + "; ").orElse("")
              + "files remain and are removed later: "
              + e.fault().what();
      log.warning("sandbox " + terminating.id() + " has no process left; " + why);
      return Optional.of(why);
    }
  }

  /** A provider attaches to whatever still runs; of what it does not answer nothing is known. */
  private static boolean isRunning(Provider provider, SandboxId id, SandboxException failure) {
    try {
      return provider.attach(id).isPresent();
    } catch (SandboxException e) {
      failure.addSuppressed(e);
      return true;
    }
  }
}
