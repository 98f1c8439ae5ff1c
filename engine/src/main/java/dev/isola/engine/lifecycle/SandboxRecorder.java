package dev.isola.engine.lifecycle;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.peer.Ownership;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.store.DiskReserve;
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
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Records changes of sandboxes in the ledger. Each change and its event are one transaction. */
public final class SandboxRecorder {
  /** The cause of a sandbox whose creation neither succeeded nor failed. */
  public static final String INTERRUPTED = "the server stopped while the sandbox was being created";

  /**
   * The states of a sandbox that frees space or memory. They are recorded on a full disk, too, and
   * so is the end of a creation that failed.
   */
  private static final Set<SandboxState> FREEING =
      EnumSet.complementOf(EnumSet.of(SandboxState.CREATING, SandboxState.RUNNING));

  private final Ledger ledger;
  private final EventLog events;
  private final Ownership ownership;
  private final InstantSource clock;

  public SandboxRecorder(Ledger ledger, EventLog events, Ownership ownership, InstantSource clock) {
    this.ledger = ledger;
    this.events = events;
    this.ownership = ownership;
    this.clock = clock;
  }

  /**
   * An idempotency key. A repeated request with the same key does not create a second sandbox.
   *
   * @param requestHash distinguishes a repeated request from a different one with the same key
   */
  public record IdempotencyKey(String key, String requestHash) {
    /** Returns the key of a request. The hash does not cover the id, which may be generated. */
    public static Optional<IdempotencyKey> of(SandboxRequest request) {
      CreateRequest sent = request.request();
      return sent.idempotencyKey()
          .map(text -> new IdempotencyKey(text, SpecCodec.requestHash(sent, request.name())));
    }
  }

  /** The result of recording an intent: a new entry, or the sandbox that the key is bound to. */
  public sealed interface IntentResult {
    record New(SandboxEntry entry) implements IntentResult {}

    record Existing(SandboxId id, boolean sameRequest) implements IntentResult {}
  }

  /** Rolls back a transaction because the key is already bound. */
  private static final class KeyBoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient KeyClaim.Existing existing;

    private KeyBoundException(KeyClaim.Existing existing) {
      super(null, null, false, false);
      this.existing = existing;
    }
  }

  /** Records the intent of this server to create a sandbox and binds the key to it. */
  public IntentResult recordIntent(SandboxEntry intent, Optional<IdempotencyKey> key) {
    SandboxEntry own = intent.toBuilder().owner(ownership.server().orElse("")).build();
    try {
      SandboxEntry stored = ledger.atomically(parts -> insert(parts, own, key));
      events.notifyReaders();
      return new IntentResult.New(stored);
    } catch (KeyBoundException bound) {
      return new IntentResult.Existing(bound.existing.sandbox(), bound.existing.sameRequest());
    }
  }

  /** Claims a sandbox from the warm pool and binds the key to it; empty if none matches. */
  public Optional<IntentResult> claimPooled(PoolClaim claim, Optional<IdempotencyKey> key) {
    try {
      Optional<SandboxEntry> claimed =
          ledger.atomically(
              parts -> {
                Optional<SandboxEntry> entry = parts.sandboxes().claimPooled(claim);
                entry.ifPresent(one -> bind(parts, one, key, claim.now()));
                return entry;
              });
      return claimed.map(IntentResult.New::new);
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
   * Writes a changed entry if the stored one has not changed since {@code before} was read
   * (compare-and-set). Releases the idempotency key of a sandbox whose creation failed.
   *
   * @return the stored entry; empty if another writer was first
   * @throws dev.isola.spi.error.ProviderUnavailable if another server owns the sandbox
   */
  public Optional<SandboxEntry> update(SandboxEntry before, SandboxEntry after) {
    ownership.require(before);
    return FREEING.contains(after.state())
        ? DiskReserve.freeing(() -> write(before, after))
        : write(before, after);
  }

  private Optional<SandboxEntry> write(SandboxEntry before, SandboxEntry after) {
    UpdateResult update =
        ledger.atomically(
            parts -> {
              UpdateResult result = parts.sandboxes().update(after);
              Failpoint.RECORD_UPDATED.reach();
              if (result instanceof UpdateResult.Written(SandboxEntry stored)
                  && before.state() != stored.state()) {
                parts.events().append(event(stored, before.state()));
                if (before.state() == SandboxState.CREATING
                    && stored.state() != SandboxState.RUNNING) {
                  parts.idempotency().release(stored.id());
                }
              }
              return result;
            });
    if (update instanceof UpdateResult.Written(SandboxEntry stored)) {
      events.notifyReaders();
      return Optional.of(stored);
    }
    return Optional.empty();
  }

  /**
   * Applies a change to the current entry and retries while other writers interfere. {@code change}
   * returns its argument if there is nothing to change.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   */
  public SandboxEntry modify(SandboxId id, UnaryOperator<SandboxEntry> change) {
    while (true) {
      SandboxEntry current = require(id);
      SandboxEntry changed = change.apply(current);
      if (changed.equals(current)) {
        return current;
      }
      Optional<SandboxEntry> stored = update(current, changed);
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

  /** Returns whether a sandbox was ever recorded as running. */
  public boolean hasRun(SandboxId id) {
    return ledger.sandboxes().transitions(id).stream()
        .anyMatch(one -> one.to() == SandboxState.RUNNING);
  }

  public Optional<SandboxEntry> find(SandboxId id) {
    return ledger.sandboxes().find(id);
  }

  /**
   * Returns the entry of a sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
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
