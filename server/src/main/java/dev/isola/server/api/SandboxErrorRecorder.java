package dev.isola.server.api;

import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Route;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;

/**
 * Adds the failures of requests for a sandbox to the latest errors of that sandbox. Errors of the
 * client are none of the sandbox.
 */
record SandboxErrorRecorder(ServerContext context) {
  /** Returns a route that records its failures. */
  Route wrap(Route route) {
    if (!route.hasSandbox() || route.answers().longPoll()) {
      return route;
    }
    Route.Handler handler = route.handler();
    return route.handledBy(
        exchange -> {
          try {
            handler.handle(exchange);
          } catch (SandboxException e) {
            record(route.name(), exchange.sandbox(), e);
            throw e;
          }
        });
  }

  private void record(String operation, SandboxId sandbox, SandboxException e) {
    boolean ofSandbox = e.category() != Category.CALLER && e.code() != ErrorCode.CANCELLED;
    if (ofSandbox) {
      context
          .current()
          .ifPresent(
              parts ->
                  parts
                      .engine()
                      .recentErrors()
                      .record(sandbox, operation, e.code(), e.fault().problem()));
    }
  }
}
