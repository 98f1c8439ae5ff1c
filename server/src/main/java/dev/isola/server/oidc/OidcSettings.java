package dev.isola.server.oidc;

import dev.isola.spi.Secret;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * How people sign in with an OpenID Connect provider.
 *
 * @param clientSecret empty for a public client
 * @param claim the claim of the ID token that decides which key a person gets
 * @param keys names of API keys by value of the claim, in order of precedence
 * @param publicUrl the address of this server in a browser; empty if the request tells
 */
public record OidcSettings(
    URI issuer,
    String clientId,
    Optional<Secret> clientSecret,
    List<String> scopes,
    String claim,
    SequencedMap<String, String> keys,
    Optional<URI> publicUrl) {
  public OidcSettings {
    scopes = List.copyOf(scopes);
  }
}
