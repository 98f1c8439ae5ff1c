package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import java.util.Optional;

/**
 * Finds the sandbox whose owner must answer a request. Where several servers share a ledger, only
 * the owner has the connection to the agent of a sandbox, and every other server passes the request
 * on.
 */
public interface OwnerLookup {

  /** Any server can answer. */
  OwnerLookup NONE = match -> Optional.empty();

  /** The owner of the sandbox that the path names. */
  OwnerLookup BY_ID = Routes.Match::sandbox;

  /** Returns the sandbox; empty if any server can answer, or if there is no such sandbox. */
  Optional<SandboxId> find(Routes.Match match);
}
