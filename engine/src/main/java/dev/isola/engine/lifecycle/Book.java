package dev.isola.engine.lifecycle;

import dev.isola.engine.event.EventLog;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.Failpoint;
import dev.isola.store.KeyClaim;
import dev.isola.store.Ledger;
import dev.isola.store.LedgerParts;
import dev.isola.store.NewEvent;
import dev.isola.store.PoolClaim;
import dev.isola.store.SandboxEntry;
import dev.isola.store.Update;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Writes what happens to sandboxes into the ledger, each change with its event, as one. */
public final class Book {
  private final Ledger ledger;
  private final EventLog events;
  private final InstantSource clock;

  public Book(Ledger ledger, EventLog events, InstantSource clock) {
    this.ledger = ledger;
    this.events = events;
    this.clock = clock;
  }

  /**
   * A key by which a caller marks a request, so that a repeated one makes no second sandbox.
   *
   * @param requestHash tells a repeated request from another one with the same key
   */
  public record Key(String key, String requestHash) {}

  /** What came of writing an intent: a new entry, or the sandbox that the key is bound to. */
  public sealed interface Opened {
    record New(SandboxEntry entry) implements Opened {}

    record Before(SandboxId id, boolean sameRequest) implements Opened {}
  }

  /** Leaves a transaction whose key is bound already; nothing of it is written. */
  private static final class Bound extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient KeyClaim.Existing existing;

    private Bound(KeyClaim.Existing existing) {
      super(null, null, false, false);
      this.existing = existing;
    }
  }

  /** Writes the intent, and binds the key to it. */
  Opened open(SandboxEntry intent, Optional<Key> key) {
    try {
      SandboxEntry stored = ledger.atomically(parts -> insert(parts, intent, key));
      events.written();
      return new Opened.New(stored);
    } catch (Bound bound) {
      return new Opened.Before(bound.existing.sandbox(), bound.existing.sameRequest());
    }
  }

  /** Takes a sandbox from the warm pool, and binds the key to it; empty when none fits. */
  public Optional<Opened> claim(PoolClaim claim, Optional<Key> key) {
    try {
      Optional<SandboxEntry> taken =
          ledger.atomically(
              parts -> {
                Optional<SandboxEntry> entry = parts.sandboxes().claim(claim);
                entry.ifPresent(one -> bind(parts, one, key, claim.now()));
                return entry;
              });
      return taken.map(Opened.New::new);
    } catch (Bound bound) {
      return Optional.of(new Opened.Before(bound.existing.sandbox(), bound.existing.sameRequest()));
    }
  }

  private static void bind(LedgerParts parts, SandboxEntry entry, Optional<Key> key, Instant now) {
    if (key.isPresent()
        && parts
                .idempotency()
                .claim(entry.tenant(), key.get().key(), key.get().requestHash(), entry.id(), now)
            instanceof KeyClaim.Existing existing) {
      throw new Bound(existing);
    }
  }

  private static SandboxEntry insert(LedgerParts parts, SandboxEntry intent, Optional<Key> key) {
    bind(parts, intent, key, intent.createdAt());
    Failpoint.BOOK_KEY_BOUND.reach();
    SandboxEntry stored = parts.sandboxes().insert(intent);
    Failpoint.BOOK_INSERTED.reach();
    parts.events().append(event(stored, null));
    return stored;
  }

  /**
   * Writes a change, if nobody has written since {@code entry} was read. One that was being made
   * and now never will be gives its key back.
   *
   * @return what is stored now; empty when somebody was first
   */
  public Optional<SandboxEntry> write(SandboxEntry before, SandboxEntry after) {
    Update update =
        ledger.atomically(
            parts -> {
              Update made = parts.sandboxes().update(after);
              Failpoint.BOOK_UPDATED.reach();
              if (made instanceof Update.Written(SandboxEntry stored)
                  && before.state() != stored.state()) {
                parts.events().append(event(stored, before.state()));
                if (before.state() == SandboxState.CREATING
                    && stored.state() != SandboxState.RUNNING) {
                  parts.idempotency().release(stored.id());
                }
              }
              return made;
            });
    if (update instanceof Update.Written(SandboxEntry stored)) {
      events.written();
      return Optional.of(stored);
    }
    return Optional.empty();
  }

  /**
   * Changes an entry, whoever else does so meanwhile: what {@code change} returns for the newest is
   * written. It returns the entry itself when there is nothing to change.
   *
   * @throws dev.isola.spi.error.NotFound when there is no such sandbox
   */
  public SandboxEntry change(SandboxId id, UnaryOperator<SandboxEntry> change) {
    while (true) {
      SandboxEntry current = need(id);
      SandboxEntry wanted = change.apply(current);
      if (wanted.equals(current)) {
        return current;
      }
      Optional<SandboxEntry> stored = write(current, wanted);
      if (stored.isPresent()) {
        return stored.get();
      }
    }
  }

  public SandboxEntry moved(SandboxEntry entry, SandboxState next, @Nullable String why) {
    return entry.toBuilder()
        .state(next)
        .updatedAt(clock.instant())
        .cause(why == null ? entry.cause().orElse(null) : why)
        .build();
  }

  public Optional<SandboxEntry> find(SandboxId id) {
    return ledger.sandboxes().find(id);
  }

  /**
   * @throws dev.isola.spi.error.NotFound when there is no such sandbox
   */
  public SandboxEntry need(SandboxId id) {
    return find(id)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.SANDBOX_NOT_FOUND,
                        "there is no sandbox " + id,
                        "list the sandboxes, or create one")
                    .sandbox(id)
                    .exception());
  }

  private static NewEvent event(SandboxEntry entry, @Nullable SandboxState from) {
    return NewEvent.of(
        entry.id(),
        EventText.type(from, entry.state()),
        EventText.of(entry, from),
        entry.updatedAt());
  }
}
