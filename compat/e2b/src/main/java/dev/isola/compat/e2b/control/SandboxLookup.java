package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.E2bSandboxIds;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxState;

/** Finds the sandbox that the path of a request names. */
final class SandboxLookup {
  private SandboxLookup() {}

  /**
   * Returns the sandbox.
   *
   * @throws dev.isola.spi.error.NotFound also when the sandbox has ended
   */
  static SandboxView find(ServerContext context, Exchange exchange) {
    SandboxView entry = context.sandboxes().view(exchange.sandbox());
    if (entry.state() != SandboxState.RUNNING && !E2bSandboxView.isSuspended(entry)) {
      throw E2bSandboxIds.unknown(entry.id().value());
    }
    return entry;
  }
}
