package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Instant;
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

  /** Where E2B's clients show a key. */
  public static final String E2B_HEADER = "X-API-KEY";

  /** Where E2B's clients show the token of a sandbox. */
  public static final String ENVD_HEADER = "X-Access-Token";

  /** What the token of a sandbox's files and processes is for. */
  public static final String ENVD = "envd";

  /** Before a key among subprotocols; never answered. */
  public static final String SUBPROTOCOL = "isola.bearer.";

  /** What the token of a sandbox's private ports is for. */
  public static final String TRAFFIC = "traffic";

  /** Where E2B's clients show it. */
  public static final String TRAFFIC_HEADER = "E2b-Traffic-Access-Token";

  private static final String BEARER = "Bearer ";
  private static final ApiKey TOKEN_KEY = token(Actor.SANDBOX_TOKEN);
  private static final ApiKey ENVD_KEY = token(Actor.ENVD_TOKEN);

  private static ApiKey token(String actor) {
    return new ApiKey(actor, Scope.USE, "", Instant.EPOCH, Optional.empty());
  }

  /**
   * Reads what a request shows.
   *
   * @param headers all values of a header
   */
  public static Credentials of(Face face, Function<String, List<String>> headers) {
    return switch (face) {
      case NATIVE ->
          new Credentials(
              headers.apply("Authorization"),
              headers.apply(TOKEN_HEADER),
              protocols(headers.apply("Sec-WebSocket-Protocol")));
      case E2B -> {
        List<String> key = headers.apply(E2B_HEADER);
        yield new Credentials(
            key.isEmpty() ? headers.apply("Authorization") : List.of(), key, List.of());
      }
      case ENVD, CONNECT -> new Credentials(List.of(), headers.apply(ENVD_HEADER), List.of());
    };
  }

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
  public Optional<ApiKey> key(ApiKeys keys, Optional<String> sandbox, Face face) {
    List<String> shown = shown();
    if (shown.size() != 1) {
      return Optional.empty();
    }
    if (face.isEnvd()) {
      return sandbox
          .map(SandboxId::new)
          .filter(id -> keys.tokens().isSteady(id, ENVD, shown.getFirst()))
          .map(id -> ENVD_KEY);
    }
    Optional<SandboxToken> token = keys.tokens().find(shown.getFirst());
    if (token.isEmpty()) {
      return keys.find(shown.getFirst());
    }
    if (face == Face.E2B) {
      throw refused("the token of a sandbox is not accepted by the control plane");
    }
    if (token.get().kind() != SandboxToken.Kind.USE) {
      throw refused("this token opens previews only");
    }
    if (sandbox.filter(id -> id.equals(token.get().sandbox().value())).isEmpty()) {
      throw refused("this token is for one sandbox only, and not for this");
    }
    return Optional.of(TOKEN_KEY);
  }

  private static SandboxException refused(String what) {
    return Fault.of(ErrorCode.FORBIDDEN, what, "use a key, or a token of this sandbox").exception();
  }
}
