package dev.isola.server.auth;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What a request shows to be let in: a key or a token, in {@code Authorization}, in {@code
 * X-Isola-Token}, or, since a page cannot add a header to a WebSocket, among the subprotocols it
 * offers.
 */
public record Credentials(
    List<String> authorization, List<String> tokens, List<String> subprotocols) {

  public static final String TOKEN_HEADER = "X-Isola-Token";

  /** Before a key among subprotocols; never answered. */
  public static final String SUBPROTOCOL = "isola.bearer.";

  private static final String BEARER = "Bearer ";
  private static final ApiKey TOKEN_KEY = ApiKey.token(Actor.SANDBOX_TOKEN);

  /**
   * Reads what a request shows.
   *
   * @param headers all values of a header
   */
  public static Credentials of(Function<String, List<String>> headers) {
    return new Credentials(
        headers.apply("Authorization"),
        headers.apply(TOKEN_HEADER),
        protocols(headers.apply("Sec-WebSocket-Protocol")));
  }

  /** Returns the token of an Authorization header; empty text when it has none. */
  public static String bearer(String authorization) {
    return authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? authorization.substring(BEARER.length()).strip()
        : "";
  }

  /** Reads the subprotocols of headers, each of which may name several. */
  public static List<String> protocols(List<String> headers) {
    return headers.stream()
        .flatMap(header -> Stream.of(header.split(",", -1)))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /** Returns every key and token in it. */
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
   * Finds the key that a secret is. A token counts as a key with scope use, for the sandbox it is
   * for.
   *
   * @param sandbox the id that the request is about
   * @throws dev.isola.spi.error.Forbidden for a token that is good for something else
   */
  public static Optional<ApiKey> key(String secret, Optional<String> sandbox, ApiKeys keys) {
    Optional<SandboxToken> token = keys.tokens().find(secret);
    if (token.isEmpty()) {
      return keys.find(secret);
    }
    if (token.get().kind() != SandboxToken.Kind.USE) {
      throw forbidden("this token opens previews only");
    }
    if (sandbox.filter(id -> id.equals(token.get().sandbox().value())).isEmpty()) {
      throw forbidden("this token is for one sandbox only, and not for this");
    }
    return Optional.of(TOKEN_KEY);
  }

  /** Refuses a token that is good for something else. */
  public static SandboxException forbidden(String what) {
    return Fault.of(ErrorCode.FORBIDDEN, what, "use a key, or a token of this sandbox").exception();
  }
}
