package dev.isola.server;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Credentials;
import dev.isola.server.auth.RequestOrigin;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.auth.Scope;
import dev.isola.server.auth.Session;
import dev.isola.server.limit.RateLimiter;
import dev.isola.server.peer.PeerRequest;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.eclipse.jetty.server.Request;

/**
 * Authenticates requests by their key or the session of a browser, and checks the scope. Counts
 * failed attempts per address.
 */
record Authenticator(ApiKeys keys, RateLimiter rateLimiter) {

  /**
   * The client of a request.
   *
   * @param key the key, or what stands for a token
   * @param session the session that stands for the key, if the request has one in its place
   */
  record Identity(ApiKey key, Optional<Session> session) {}

  /**
   * Returns the client of the request, or throws if its key is missing, unknown, or lacks the scope
   * of the route.
   */
  Optional<Identity> authenticate(
      Request request, Route route, Map<String, String> path, RequestLogEntry logEntry) {
    if (route.scope().isEmpty()) {
      return Optional.empty();
    }
    Function<String, List<String>> headers = header -> RequestLogEntry.values(request, header);
    List<String> credentials = route.dialect().secrets(headers);
    Optional<Session> session =
        credentials.isEmpty() && route.dialect().isNative()
            ? Credentials.session(headers, request.isSecure(), keys)
            : Optional.empty();
    Optional<SandboxToken> token =
        session.isPresent()
            ? session.get().token()
            : credentials.stream().flatMap(one -> keys.tokens().find(one).stream()).findFirst();
    Optional<String> sandbox = sandbox(request, route, path, token);
    Optional<ApiKey> key =
        session.isPresent()
            ? Credentials.key(session.get(), sandbox, keys)
            : key(request, route, credentials, sandbox);
    if (key.isEmpty()) {
      throw unauthenticated(
          credentials.isEmpty() ? "the request has no API key" : "the API key is invalid");
    }
    logEntry.key = key.get().name();
    if (key.get().isToken() && logEntry.sandbox.isEmpty()) {
      logEntry.sandbox = sandbox;
    }
    checkScope(key.get(), route, route.scope().get());
    return Optional.of(new Identity(key.get(), session));
  }

  /**
   * Returns the client of a request that another server passed on, or throws if its key lacks the
   * scope of the route.
   */
  Optional<Identity> accept(PeerRequest statement, Route route, RequestLogEntry logEntry) {
    if (route.scope().isEmpty()) {
      return Optional.empty();
    }
    ApiKey key =
        statement
            .key()
            .orElseThrow(() -> unauthenticated("the server " + statement.from() + " named no key"));
    logEntry.key = key.name();
    checkScope(key, route, route.scope().get());
    return Optional.of(new Identity(key, Optional.empty()));
  }

  private Optional<ApiKey> key(
      Request request, Route route, List<String> credentials, Optional<String> sandbox) {
    String remote = Request.getRemoteAddr(request);
    if (!credentials.isEmpty()) {
      rateLimiter.checkNotBlocked(remote);
    }
    Optional<ApiKey> key =
        switch (credentials.size()) {
          case 0 ->
              route
                  .dialect()
                  .anonymousKey(header -> RequestLogEntry.values(request, header), sandbox);
          case 1 -> route.dialect().key(credentials.getFirst(), sandbox, keys);
          default -> Optional.empty();
        };
    if (key.isEmpty() && !credentials.isEmpty()) {
      rateLimiter.recordAuthFailure(remote);
    }
    return key;
  }

  /** Returns the sandbox that a token must belong to. */
  private static Optional<String> sandbox(
      Request request, Route route, Map<String, String> path, Optional<SandboxToken> token) {
    return switch (route.tokenAccess()) {
      case NONE, PATH -> Optional.ofNullable(path.get("id"));
      case QUERY -> {
        List<String> named =
            Query.read(request.getHttpURI().getQuery(), new ArrayList<>())
                .getOrDefault("sandbox", List.of());
        yield named.size() == 1 ? Optional.of(named.getFirst()) : Optional.empty();
      }
      case ANY -> token.map(one -> one.sandbox().value());
    };
  }

  private static void checkScope(ApiKey key, Route route, Scope needed) {
    if (key.isToken() && !route.sandboxTokens()) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "a sandbox token does not allow this operation, which affects more than its sandbox",
              "use a key with scope " + needed.word())
          .exception();
    }
    if (!key.scope().allows(needed)) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "the key "
                  + key.name()
                  + " has scope "
                  + key.scope().word()
                  + ", but the operation requires "
                  + needed.word(),
              "use a key with scope " + needed.word())
          .exception();
    }
  }

  /**
   * Returns the key for a credential in the body of a request, or throws. Counts the request
   * against the rate of the key.
   */
  ApiKey authenticate(Request request, String credential, RequestLogEntry logEntry) {
    RequestOrigin origin =
        RequestOrigin.of(header -> RequestLogEntry.values(request, header), request.isSecure());
    if (origin == RequestOrigin.OTHER) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              "a page of another origin cannot create a session",
              "sign in on a page of this server")
          .exception();
    }
    String remote = Request.getRemoteAddr(request);
    rateLimiter.checkNotBlocked(remote);
    Optional<String> sandbox = keys.tokens().find(credential).map(token -> token.sandbox().value());
    Optional<ApiKey> key = Credentials.key(credential, sandbox, keys);
    if (key.isEmpty()) {
      rateLimiter.recordAuthFailure(remote);
      throw unauthenticated("the API key is invalid");
    }
    logEntry.key = key.get().name();
    logEntry.sandbox = sandbox;
    rateLimiter.countRequest(logEntry.key);
    return key.get();
  }

  private static SandboxException unauthenticated(String what) {
    return Fault.of(
            ErrorCode.UNAUTHENTICATED,
            what,
            "send an API key of this server as: Authorization: Bearer KEY")
        .exception();
  }
}
