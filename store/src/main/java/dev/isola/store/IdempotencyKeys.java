package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;

/** Idempotency keys, which prevent a repeated request from creating a second sandbox. */
public interface IdempotencyKeys {

  /**
   * Binds {@code key} to a sandbox unless it is already bound. Call this in the transaction that
   * inserts the sandbox, and roll back on {@link KeyClaim.Existing}, so that a repeated request
   * never leaves an extra sandbox. A key older than {@link LedgerConfig#keyRetention} counts as
   * free.
   *
   * @param requestHash distinguishes a repeated request from a different one with the same key
   */
  KeyClaim claim(String tenant, String key, String requestHash, SandboxId sandbox, Instant now);

  /**
   * Releases the keys of a sandbox whose creation failed, so that a repeated request creates
   * another one.
   */
  void release(SandboxId sandbox);

  /**
   * Deletes the keys that were bound before {@code before}.
   *
   * @return the number of deleted keys
   */
  int purge(Instant before);
}
