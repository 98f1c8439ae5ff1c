package dev.isola.server.auth;

import dev.isola.spi.SandboxId;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Headers in which clients of another API send credentials for ports of sandboxes. They are never
 * forwarded to a sandbox.
 *
 * @param tokens headers that carry a stable token of the sandbox
 * @param keyHeaders headers that carry API keys, which do not grant access to ports
 */
public record PortCredentials(List<Token> tokens, List<String> keyHeaders) {
  public static final PortCredentials NONE = new PortCredentials(List.of(), List.of());

  /**
   * A header that carries a stable token of the sandbox.
   *
   * @param purpose the purpose of the token
   * @param actor its name in the logs
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
   * Returns the first token of a request that is valid for the sandbox.
   *
   * @param headers returns all values of a header
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
