package dev.isola.engine.api;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.util.List;

/**
 * The servers that share a ledger. Each sandbox has one owner among them, which holds the
 * connection to its agent; the others pass requests on to the owner.
 */
public interface Peers {

  /** Returns the name of this server. */
  String self();

  /** Returns all servers that the ledger records, this one included. */
  List<ServerView> all();

  /**
   * Returns the server that answers requests about a sandbox. A sandbox whose owner has lost its
   * lease is taken over by this server first, if its provider allows that. A sandbox that does not
   * exist, or no longer, is answered here.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the owner is down and the sandbox runs on
   *     its machine
   */
  SandboxHome homeOf(SandboxId id);

  /** Returns a secret that all servers of the installation share, to authenticate each other. */
  Secret key();
}
