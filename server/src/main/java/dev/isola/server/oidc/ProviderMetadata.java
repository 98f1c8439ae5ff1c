package dev.isola.server.oidc;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;

/**
 * The part of a discovery document (OpenID Connect Discovery 1.0) that the sign-in needs.
 *
 * @param secretInBody whether the client secret is sent in the body of the token request, because
 *     the provider does not accept HTTP Basic
 */
record ProviderMetadata(
    URI authorizationEndpoint, URI tokenEndpoint, URI jwksUri, boolean secretInBody) {
  private static final String BASIC = "client_secret_basic";

  /**
   * Reads a discovery document.
   *
   * @param issuer the configured issuer, which the document must name exactly
   */
  static ProviderMetadata of(Map<String, Object> document, String issuer) throws SignInException {
    if (!issuer.equals(document.get("issuer"))) {
      throw malformed("it names another issuer than oidc.issuer");
    }
    boolean loopback = issuer.startsWith("http:");
    List<?> methods =
        document.get("token_endpoint_auth_methods_supported") instanceof List<?> list
            ? list
            : List.of(BASIC);
    return new ProviderMetadata(
        endpoint(document, "authorization_endpoint", loopback),
        endpoint(document, "token_endpoint", loopback),
        endpoint(document, "jwks_uri", loopback),
        !methods.contains(BASIC));
  }

  private static URI endpoint(Map<String, Object> document, String name, boolean loopback)
      throws SignInException {
    try {
      URI uri = new URI(document.get(name) instanceof String text ? text : "");
      boolean secure = "https".equals(uri.getScheme());
      boolean plain = loopback && "http".equals(uri.getScheme());
      if (uri.getHost() != null && uri.getFragment() == null && (secure || plain)) {
        return uri;
      }
    } catch (URISyntaxException e) {
      throw malformed("its " + name + " is not a URL");
    }
    throw malformed("its " + name + " is missing or does not begin with https://");
  }

  private static SignInException malformed(String detail) {
    return new SignInException(
        SignInProblem.PROVIDER_UNAVAILABLE, "the discovery document is invalid: " + detail);
  }
}
