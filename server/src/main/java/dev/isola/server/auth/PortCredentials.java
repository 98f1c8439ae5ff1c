package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Headers of another API in which its clients show credentials for ports of sandboxes. A sandbox
 * never receives them.
 *
 * @param tokens headers with a steady token of the sandbox
 * @param keyHeaders headers in which clients show keys, which open no port
 */
public record PortCredentials(List<Token> tokens, List<String> keyHeaders) {
  public static final PortCredentials NONE = new PortCredentials(List.of(), List.of());

  /**
   * A header with a steady token of the sandbox.
   *
   * @param purpose of the token
   * @param actor the name of its bearer in the logs
   */
  public record Token(String header, String purpose, String actor) {}

  public PortCredentials {
    tokens = List.copyOf(tokens);
    keyHeaders = List.copyOf(keyHeaders);
  }

  public PortCredentials and(PortCredentials other) {
    return new PortCredentials(
        Stream.concat(tokens.stream(), other.tokens.stream()).toList(),
        Stream.concat(keyHeaders.stream(), other.keyHeaders.stream()).toList());
  }

  /**
   * Returns the first token that a request shows and that opens the ports of a sandbox.
   *
   * @param headers all values of a header
   */
  public Optional<Token> find(
      Function<String, List<String>> headers, SandboxId sandbox, SandboxTokens known) {
    return tokens.stream()
        .filter(
            token ->
                headers.apply(token.header()).stream()
                    .anyMatch(secret -> known.isStableToken(sandbox, token.purpose(), secret)))
        .findFirst();
  }
}
