package dev.isola.server;

import dev.isola.server.auth.Actor;
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
import dev.isola.server.route.Routes;
import dev.isola.server.route.SandboxIds;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
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
  Optional<Identity> authenticate(Request request, Routes.Match match, RequestLogEntry logEntry) {
    Route route = match.route();
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
    Optional<SandboxId> sandbox = sandbox(request, match, token);
    Optional<ApiKey> key =
        session.isPresent()
            ? Credentials.key(session.get(), sandbox, keys)
            : key(request, route, credentials, sandbox, logEntry);
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
      Request request,
      Route route,
      List<String> credentials,
      Optional<SandboxId> sandbox,
      RequestLogEntry logEntry) {
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
      refuse(logEntry);
    }
    return key;
  }

  /** Records that the credential of a request is invalid, for the limits and the logs. */
  void recordFailure(RequestLogEntry logEntry) {
    logEntry.key = Actor.INVALID;
    logEntry.unlisted = !rateLimiter.recordAuthFailure(logEntry.remote());
  }

  /** Records an invalid credential, and rejects the request if there were too many. */
  private void refuse(RequestLogEntry logEntry) {
    boolean blocked = rateLimiter.isBlocked(logEntry.remote());
    recordFailure(logEntry);
    if (blocked) {
      rateLimiter.checkNotBlocked(logEntry.remote());
    }
  }

  /** Returns the sandbox that a token must belong to. */
  private static Optional<SandboxId> sandbox(
      Request request, Routes.Match match, Optional<SandboxToken> token) {
    return switch (match.route().tokenAccess()) {
      case NONE, PATH -> match.sandbox();
      case QUERY -> {
        List<String> named =
            Query.read(request.getHttpURI().getQuery(), new ArrayList<>())
                .getOrDefault("sandbox", List.of());
        yield named.size() == 1 ? SandboxIds.find(named.getFirst()) : Optional.empty();
      }
      case ANY -> token.map(SandboxToken::sandbox);
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
    Optional<SandboxId> sandbox = keys.tokens().find(credential).map(SandboxToken::sandbox);
    Optional<ApiKey> key = Credentials.key(credential, sandbox, keys);
    if (key.isEmpty()) {
      refuse(logEntry);
      throw unauthenticated("the API key is invalid");
    }
    LimitedConnector.authenticated(request);
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
