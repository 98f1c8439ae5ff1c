package dev.isola.server.access;

import dev.isola.engine.api.HostAccess;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Restricts sandboxes with access to the host's network or directories to keys with scope admin,
 * and to sandbox tokens that were issued with such a key. Otherwise any key with scope use could
 * reach the host through a sandbox that an administrator created.
 */
public final class HostAccessGuard {
  /**
   * The routes that tell that a sandbox exists and how it is, and nothing of what is in it. Every
   * other route is checked, so that a new one is.
   */
  public static final Set<String> DESCRIPTIONS =
      Set.of(
          "getSandbox",
          "getStatus",
          "followStatus",
          "getUsage",
          "waitForState",
          "listPorts",
          "e2bGet",
          "e2bMetrics",
          "e2bLogs",
          "e2bLogsFirst");

  private static final int MAX_CACHED = 100_000;

  private final ServerContext context;

  /** The host access of a sandbox never changes, and ids are never reused. */
  private final Map<SandboxId, HostAccess> cache = new ConcurrentHashMap<>();

  public HostAccessGuard(ServerContext context) {
    this.context = context;
  }

  /** Returns whether the client may request access to the host's network or directories. */
  public static boolean mayRequestHostAccess(Exchange exchange) {
    return exchange.key().filter(key -> key.scope().allows(Scope.ADMIN)).isPresent();
  }

  /**
   * Returns a route that checks the sandbox in its path before the handler runs. Previews check it
   * themselves, once they have found the key.
   */
  public Route wrap(Route route) {
    boolean needsKey = route.scope().isPresent() && !(route.body() instanceof Body.Forwarded);
    if (!route.hasSandbox() || !needsKey || DESCRIPTIONS.contains(route.name())) {
      return route;
    }
    Route.Handler handler = route.handler();
    return route.handledBy(
        exchange -> {
          check(exchange.key(), exchange.sandbox());
          handler.handle(exchange);
        });
  }

  /**
   * Checks whether a key may use a sandbox, given the sandbox's access to the host.
   *
   * @throws dev.isola.spi.error.Forbidden with the kind of host access
   */
  public void check(Optional<ApiKey> key, SandboxId sandbox) {
    boolean allowed =
        key.filter(one -> one.isToken() || one.scope().allows(Scope.ADMIN)).isPresent();
    if (allowed || hostAccess(sandbox).isNone()) {
      return;
    }
    throw Fault.of(
            ErrorCode.FORBIDDEN,
            "sandbox "
                + sandbox
                + " has access to "
                + (hostAccess(sandbox).network() ? "the network" : "directories")
                + " of the host",
            "use a key with scope admin, or a sandbox token issued with one")
        .exception();
  }

  /** Returns the host access of a sandbox; none if the sandbox does not exist. */
  public HostAccess hostAccess(SandboxId id) {
    HostAccess before = cache.get(id);
    if (before != null) {
      return before;
    }
    try {
      HostAccess access = HostAccess.of(context.sandboxes().view(id).request().spec());
      if (cache.size() >= MAX_CACHED) {
        cache.clear();
      }
      cache.put(id, access);
      return access;
    } catch (NotFound absent) {
      return HostAccess.NONE; // the handler reports it
    }
  }
}
