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
import dev.isola.store.UpdateResult;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Writes what happens to sandboxes into the ledger, each change with its event, as one. */
public final class SandboxRecorder {
  private final Ledger ledger;
  private final EventLog events;
  private final InstantSource clock;

  public SandboxRecorder(Ledger ledger, EventLog events, InstantSource clock) {
    this.ledger = ledger;
    this.events = events;
    this.clock = clock;
  }

  /**
   * A key by which a caller marks a request, so that a repeated one makes no second sandbox.
   *
   * @param requestHash tells a repeated request from another one with the same key
   */
  public record IdempotencyKey(String key, String requestHash) {}

  /** What came of writing an intent: a new entry, or the sandbox that the key is bound to. */
  public sealed interface IntentResult {
    record New(SandboxEntry entry) implements IntentResult {}

    record Existing(SandboxId id, boolean sameRequest) implements IntentResult {}
  }

  /** Leaves a transaction whose key is bound already; nothing of it is written. */
  private static final class KeyBoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient KeyClaim.Existing existing;

    private KeyBoundException(KeyClaim.Existing existing) {
      super(null, null, false, false);
      this.existing = existing;
    }
  }

  /** Writes the intent, and binds the key to it. */
  IntentResult recordIntent(SandboxEntry intent, Optional<IdempotencyKey> key) {
    try {
      SandboxEntry stored = ledger.atomically(parts -> insert(parts, intent, key));
      events.notifyReaders();
      return new IntentResult.New(stored);
    } catch (KeyBoundException bound) {
      return new IntentResult.Existing(bound.existing.sandbox(), bound.existing.sameRequest());
    }
  }

  /** Takes a sandbox from the warm pool, and binds the key to it; empty when none fits. */
  public Optional<IntentResult> claimPooled(PoolClaim claim, Optional<IdempotencyKey> key) {
    try {
      Optional<SandboxEntry> taken =
          ledger.atomically(
              parts -> {
                Optional<SandboxEntry> entry = parts.sandboxes().claimPooled(claim);
                entry.ifPresent(one -> bind(parts, one, key, claim.now()));
                return entry;
              });
      return taken.map(IntentResult.New::new);
    } catch (KeyBoundException bound) {
      return Optional.of(
          new IntentResult.Existing(bound.existing.sandbox(), bound.existing.sameRequest()));
    }
  }

  private static void bind(
      LedgerParts parts, SandboxEntry entry, Optional<IdempotencyKey> key, Instant now) {
    if (key.isPresent()
        && parts
                .idempotency()
                .claim(entry.tenant(), key.get().key(), key.get().requestHash(), entry.id(), now)
            instanceof KeyClaim.Existing existing) {
      throw new KeyBoundException(existing);
    }
  }

  private static SandboxEntry insert(
      LedgerParts parts, SandboxEntry intent, Optional<IdempotencyKey> key) {
    bind(parts, intent, key, intent.createdAt());
    Failpoint.RECORD_KEY_BOUND.reach();
    SandboxEntry stored = parts.sandboxes().insert(intent);
    Failpoint.RECORD_INSERTED.reach();
    parts.events().append(event(stored, null));
    return stored;
  }

  /**
   * Writes a change, if nobody has written since {@code entry} was read. One that was being made
   * and now never will be gives its key back.
   *
   * @return what is stored now; empty when somebody was first
   */
  public Optional<SandboxEntry> update(SandboxEntry before, SandboxEntry after) {
    UpdateResult update =
        ledger.atomically(
            parts -> {
              UpdateResult made = parts.sandboxes().update(after);
              Failpoint.RECORD_UPDATED.reach();
              if (made instanceof UpdateResult.Written(SandboxEntry stored)
                  && before.state() != stored.state()) {
                parts.events().append(event(stored, before.state()));
                if (before.state() == SandboxState.CREATING
                    && stored.state() != SandboxState.RUNNING) {
                  parts.idempotency().release(stored.id());
                }
              }
              return made;
            });
    if (update instanceof UpdateResult.Written(SandboxEntry stored)) {
      events.notifyReaders();
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
  public SandboxEntry modify(SandboxId id, UnaryOperator<SandboxEntry> change) {
    while (true) {
      SandboxEntry current = require(id);
      SandboxEntry wanted = change.apply(current);
      if (wanted.equals(current)) {
        return current;
      }
      Optional<SandboxEntry> stored = update(current, wanted);
      if (stored.isPresent()) {
        return stored.get();
      }
    }
  }

  public SandboxEntry withState(SandboxEntry entry, SandboxState next, @Nullable String why) {
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
  public SandboxEntry require(SandboxId id) {
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
        EventDocument.type(from, entry.state()),
        EventDocument.of(entry, from),
        entry.updatedAt());
  }
}
