package dev.isola.store;

import dev.isola.spi.SandboxId;
import java.time.Instant;

/** Keys by which callers mark a request, so that a repeated one does not make a second sandbox. */
public interface IdempotencyKeys {

  /**
   * Binds {@code key} to a sandbox unless it is bound already. Do it in the transaction that writes
   * the sandbox, and let that fail on {@link KeyClaim.Existing}: then there is never a sandbox too
   * many. A key older than {@link LedgerConfig#keyRetention} counts as free.
   *
   * @param requestHash tells a repeated request from another one with the same key
   */
  KeyClaim claim(String tenant, String key, String requestHash, SandboxId sandbox, Instant now);

  /**
   * Frees the keys of a sandbox that never came to be: who repeats the request asks for another.
   */
  void release(SandboxId sandbox);

  /**
   * Forgets the keys that were bound before {@code before}.
   *
   * @return how many
   */
  int purge(Instant before);
}
