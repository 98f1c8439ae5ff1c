package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.E2bSandboxIds;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Map;
import java.util.Optional;

/** Finds the sandbox that the path of a request names. */
final class SandboxLookup {
  private SandboxLookup() {}

  /**
   * Returns the sandbox.
   *
   * @throws dev.isola.spi.error.NotFound also when the sandbox has ended
   */
  static SandboxView find(ServerContext context, Exchange exchange) {
    String id = E2bSandboxIds.withoutSuffix(exchange.path("id"));
    if (!SandboxId.isValid(id)) {
      throw unknown(id);
    }
    SandboxView entry = context.engine().view(new SandboxId(id));
    exchange.setSandbox(entry.id());
    if (entry.state() != SandboxState.RUNNING && !E2bSandboxView.isSuspended(entry)) {
      throw unknown(id);
    }
    return entry;
  }

  /** Returns the sandbox whose owner answers a request with these path parameters. */
  static Optional<SandboxId> owner(Map<String, String> path) {
    return Optional.ofNullable(path.get("id"))
        .map(E2bSandboxIds::withoutSuffix)
        .filter(SandboxId::isValid)
        .map(SandboxId::new);
  }

  private static SandboxException unknown(String id) {
    return Fault.of(
            ErrorCode.SANDBOX_NOT_FOUND, "sandbox " + id + " does not exist", "list the sandboxes")
        .exception();
  }
}
