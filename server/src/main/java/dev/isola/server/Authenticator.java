package dev.isola.server;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.jetty.server.Request;

/** Authenticates requests by their key and checks the scope. Counts failed attempts per address. */
record Authenticator(ApiKeys keys, RateLimiter rateLimiter) {

  /**
   * Returns the key of the request, or throws if it is missing, unknown, or lacks the scope of the
   * route.
   */
  Optional<ApiKey> authenticate(
      Request request, Route route, Map<String, String> path, RequestLogEntry logEntry) {
    if (route.scope().isEmpty()) {
      return Optional.empty();
    }
    Scope needed = route.scope().get();
    Function<String, List<String>> headers = header -> RequestLogEntry.values(request, header);
    List<String> credentials = route.dialect().secrets(headers);
    String remote = Request.getRemoteAddr(request);
    if (!credentials.isEmpty()) {
      rateLimiter.checkNotBlocked(remote);
    }
    Optional<String> sandbox = Optional.ofNullable(path.get("id"));
    Optional<ApiKey> key =
        switch (credentials.size()) {
          case 0 -> route.dialect().anonymousKey(headers, sandbox);
          case 1 -> route.dialect().key(credentials.getFirst(), sandbox, keys);
          default -> Optional.empty();
        };
    if (key.isEmpty()) {
      if (!credentials.isEmpty()) {
        rateLimiter.recordAuthFailure(remote);
      }
      throw Fault.of(
              ErrorCode.UNAUTHENTICATED,
              credentials.isEmpty() ? "the request has no API key" : "the API key is invalid",
              "send an API key of this server as: Authorization: Bearer KEY")
          .exception();
    }
    logEntry.key = key.get().name();
    if (key.get().isToken() && !route.sandboxTokens()) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "a sandbox token does not allow this operation, which affects more than its sandbox",
              "use a key with scope " + needed.word())
          .exception();
    }
    if (!key.get().scope().allows(needed)) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "the key "
                  + logEntry.key
                  + " has scope "
                  + key.get().scope().word()
                  + ", but the operation requires "
                  + needed.word(),
              "use a key with scope " + needed.word())
          .exception();
    }
    return key;
  }
}
