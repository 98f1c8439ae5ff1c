package dev.isola.server.route;

import dev.isola.spi.SandboxId;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the sandbox whose owner must answer a request. Where several servers share a ledger, only
 * the owner has the connection to the agent of a sandbox, and every other server passes the request
 * on.
 */
public interface OwnerLookup {

  /** Any server can answer. */
  OwnerLookup NONE = path -> Optional.empty();

  /** The owner of the sandbox whose id is the path parameter {@code id}. */
  OwnerLookup BY_ID =
      path -> Optional.ofNullable(path.get("id")).filter(SandboxId::isValid).map(SandboxId::new);

  /**
   * Returns the sandbox; empty if any server can answer, or if there is no such sandbox.
   *
   * @param path the path parameters of the request
   */
  Optional<SandboxId> find(Map<String, String> path);
}
