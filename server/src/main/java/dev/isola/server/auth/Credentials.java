package dev.isola.server.auth;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

  /** Reads the subprotocols of headers, each of which may name several. */
  public static List<String> protocols(List<String> headers) {
    return headers.stream()
        .flatMap(header -> Stream.of(header.split(",", -1)))
        .map(String::strip)
        .filter(word -> !word.isEmpty())
        .toList();
  }

  public boolean isEmpty() {
    return shown().isEmpty();
  }

  private List<String> shown() {
    List<String> shown = new ArrayList<>();
    authorization.forEach(
        value ->
            shown.add(
                value.regionMatches(true, 0, BEARER, 0, BEARER.length())
                    ? value.substring(BEARER.length()).strip()
                    : ""));
    shown.addAll(tokens);
    subprotocols.stream()
        .filter(word -> word.startsWith(SUBPROTOCOL))
        .forEach(word -> shown.add(word.substring(SUBPROTOCOL.length())));
    return shown;
  }

  /**
   * Finds the key that was shown. A token counts as a key with scope use, for the sandbox it is
   * for.
   *
   * @param sandbox whom the request is about
   * @throws dev.isola.spi.error.Forbidden for a token that is good for something else
   */
  public Optional<ApiKey> key(ApiKeys keys, Optional<String> sandbox) {
    List<String> shown = shown();
    if (shown.size() != 1) {
      return Optional.empty();
    }
    Optional<SandboxToken> token = keys.tokens().find(shown.getFirst());
    if (token.isEmpty()) {
      return keys.find(shown.getFirst());
    }
    if (token.get().kind() != SandboxToken.Kind.USE) {
      throw refused("this token opens previews only");
    }
    if (sandbox.filter(id -> id.equals(token.get().sandbox().value())).isEmpty()) {
      throw refused("this token is for one sandbox only, and not for this");
    }
    return Optional.of(new ApiKey(ApiKey.TOKEN, Scope.USE, "", Instant.EPOCH, Optional.empty()));
  }

  private static SandboxException refused(String what) {
    return Fault.of(ErrorCode.FORBIDDEN, what, "use a key, or a token of this sandbox").exception();
  }
}
