package dev.isola.compat.e2b.model;

import dev.isola.engine.api.HostAccess;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.context.ServerContext;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.NotFound;
import java.util.List;
import java.util.function.Predicate;

/**
 * Decides whether a request without a token may use the files and processes of a sandbox. Clients
 * of E2B that are older than its tokens need that.
 *
 * @param allowed whether the operator allows it
 */
public record InsecureAccess(ServerContext context, boolean allowed) {
  /** Sent by browsers only. A page of another site must not use a sandbox whose id it knows. */
  private static final List<String> BROWSER_HEADERS = List.of("Origin", "Sec-Fetch-Site");

  /**
   * Returns whether a request without a token may use a sandbox.
   *
   * @param hasHeader returns whether the request has a header
   */
  public boolean isOpen(SandboxId sandbox, Predicate<String> hasHeader) {
    if (!allowed || BROWSER_HEADERS.stream().anyMatch(hasHeader)) {
      return false;
    }
    try {
      return isOpen(context.sandboxes().view(sandbox));
    } catch (NotFound e) {
      return false;
    }
  }

  private static boolean isOpen(SandboxView entry) {
    return E2bLabels.of(entry, E2bLabels.INSECURE).filter(entry.id().value()::equals).isPresent()
        && entry.isolation() != Isolation.PROCESS
        && entry.damage().isEmpty()
        && HostAccess.of(entry.request().spec()).isNone();
  }
}
