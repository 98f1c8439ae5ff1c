package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The credentials of a request: keys or tokens in {@code Authorization}, in {@code X-Isola-Token},
 * or among the offered subprotocols, because a browser cannot add headers to a WebSocket request.
 */
public record Credentials(
    List<String> authorization, List<String> tokens, List<String> subprotocols) {

  public static final String TOKEN_HEADER = "X-Isola-Token";

  /** Prefix of a key among the subprotocols. Never selected in the response. */
  public static final String SUBPROTOCOL = "isola.bearer.";

  private static final String BEARER = "Bearer ";
  private static final ApiKey USE_KEY = ApiKey.token(Actor.SANDBOX_TOKEN, Scope.USE);
  private static final ApiKey READ_KEY = ApiKey.token(Actor.SANDBOX_TOKEN, Scope.READ);

  /**
   * Reads the credentials of a request.
   *
   * @param headers returns all values of a header
   */
  public static Credentials of(Function<String, List<String>> headers) {
    return new Credentials(
        headers.apply("Authorization"),
        headers.apply(TOKEN_HEADER),
        protocols(headers.apply("Sec-WebSocket-Protocol")));
  }

  /** Returns the bearer token of an Authorization header; empty if it has none. */
  public static String bearer(String authorization) {
    return authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? authorization.substring(BEARER.length()).strip()
        : "";
  }

  /** Parses subprotocol headers, each of which may contain several names. */
  public static List<String> protocols(List<String> headers) {
    return headers.stream()
        .flatMap(header -> Stream.of(header.split(",", -1)))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /** Returns all keys and tokens. */
  public List<String> secrets() {
    List<String> secrets = new ArrayList<>();
    authorization.forEach(value -> secrets.add(bearer(value)));
    secrets.addAll(tokens);
    subprotocols.stream()
        .filter(word -> word.startsWith(SUBPROTOCOL))
        .forEach(word -> secrets.add(word.substring(SUBPROTOCOL.length())));
    return secrets;
  }

  /**
   * Finds the key for a secret. A sandbox token counts as a key with its scope for its sandbox.
   *
   * @param sandbox the sandbox of the request
   * @throws dev.isola.spi.error.Forbidden for a valid token that does not apply to this request
   */
  public static Optional<ApiKey> key(String secret, Optional<SandboxId> sandbox, ApiKeys keys) {
    Optional<SandboxToken> token = keys.tokens().find(secret);
    return token.isEmpty() ? keys.find(secret) : Optional.of(key(token.get(), sandbox));
  }

  /** Returns the key of a session. Parameters and errors are those of {@link #key}. */
  public static Optional<ApiKey> key(Session session, Optional<SandboxId> sandbox, ApiKeys keys) {
    if (session.token().isPresent()) {
      return Optional.of(key(session.token().get(), sandbox));
    }
    Optional<ApiKey> key = keys.sessions().key(session);
    key.ifPresent(keys::recordUse);
    return key;
  }

  private static ApiKey key(SandboxToken token, Optional<SandboxId> sandbox) {
    ApiKey key =
        switch (token.kind()) {
          case USE -> USE_KEY;
          case READ -> READ_KEY;
          case PREVIEW -> throw forbidden("the token only allows access to previews");
        };
    if (sandbox.filter(id -> id.equals(token.sandbox())).isEmpty()) {
      throw forbidden("the token belongs to another sandbox");
    }
    return key;
  }

  /**
   * Returns the session of a request: the one in its cookie, if the request comes from a page of
   * this server. Two valid sessions are none, because another page may have set one of them.
   *
   * @param headers returns all values of a header
   * @param secure whether the request was sent over TLS
   */
  public static Optional<Session> session(
      Function<String, List<String>> headers, boolean secure, ApiKeys keys) {
    // A handshake without an Origin is not one of a browser.
    boolean upgrade = !headers.apply("Upgrade").isEmpty();
    if (RequestOrigin.of(headers, secure) != RequestOrigin.SAME
        || (upgrade && headers.apply("Origin").isEmpty())) {
      return Optional.empty();
    }
    List<Session> valid =
        SessionCookie.of(headers.apply("Host").getFirst(), secure)
            .values(headers.apply("Cookie"))
            .stream()
            .flatMap(secret -> keys.sessions().find(secret).stream())
            .toList();
    return valid.size() == 1 ? Optional.of(valid.getFirst()) : Optional.empty();
  }

  /** Returns the error for a valid token that does not apply to a request. */
  public static SandboxException forbidden(String what) {
    return Fault.of(ErrorCode.FORBIDDEN, what, "use an API key, or a token of this sandbox")
        .exception();
  }
}
