package dev.isola.server.oidc;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import dev.isola.spi.Secret;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The provider, as the server sees it. Its documents are cached, so that it cannot be flooded with
 * requests by clients without credentials: a failure is repeated for a few seconds, and an unknown
 * key causes at most one request in the same time as others.
 */
final class OidcProvider {
  private static final Duration CACHE_TIME = Duration.ofHours(1);

  /** The least time between two requests for the same document. */
  static final Duration RETRY_INTERVAL = Duration.ofSeconds(10);

  private static final String OAUTH_ERROR = "[a-z_]{1,40}";

  private final OidcSettings settings;
  private final InstantSource clock;
  private final ProviderConnection connection;
  private final CachedDocument<ProviderMetadata> metadata =
      new CachedDocument<>(
          "the discovery document", document -> ProviderMetadata.of(document, issuer()));
  private final CachedDocument<SigningKeys> keys =
      new CachedDocument<>("the key set", SigningKeys::of);

  OidcProvider(OidcSettings settings, InstantSource clock, Duration timeout) {
    this.settings = settings;
    this.clock = clock;
    connection = new ProviderConnection(timeout);
  }

  private String issuer() {
    return settings.issuer().toString();
  }

  ProviderMetadata metadata() throws SignInException {
    String issuer = issuer();
    String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
    return metadata.get(URI.create(base + "/.well-known/openid-configuration"), false);
  }

  /** Finds the key of a signature. Asks the provider again if it is unknown. */
  Optional<JWK> key(JWSHeader header) throws SignInException {
    URI address = metadata().jwksUri();
    Optional<JWK> known = keys.get(address, false).find(header);
    return known.isPresent() ? known : keys.get(address, true).find(header);
  }

  /** Exchanges a code for an ID token, which is not verified yet. */
  String idToken(SignInTransaction transaction, String code) throws SignInException {
    ProviderMetadata provider = metadata();
    Map<String, String> form = new LinkedHashMap<>();
    form.put("grant_type", "authorization_code");
    form.put("code", code);
    form.put("redirect_uri", transaction.redirectUri().toString());
    form.put("code_verifier", transaction.verifier());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(provider.tokenEndpoint())
            .header("Content-Type", "application/x-www-form-urlencoded");
    Optional<String> secret = settings.clientSecret().map(OidcProvider::reveal);
    if (secret.isPresent() && !provider.secretInBody()) {
      String pair = encode(settings.clientId()) + ":" + encode(secret.get());
      request.header(
          "Authorization",
          "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.US_ASCII)));
    } else {
      form.put("client_id", settings.clientId());
      secret.ifPresent(text -> form.put("client_secret", text));
    }
    ProviderConnection.Answer answer =
        connection.send(
            request.POST(BodyPublishers.ofString(query(form))), "the response with the token");
    if (answer.status() != 200 || !(answer.body().get("id_token") instanceof String token)) {
      String error = String.valueOf(answer.body().get("error"));
      throw new SignInException(
          SignInProblem.INVALID_TOKEN,
          "the provider did not exchange the code: status "
              + answer.status()
              + (error.matches(OAUTH_ERROR) ? ", " + error : ""));
    }
    return token;
  }

  private static String reveal(Secret secret) {
    return new String(secret.reveal(), StandardCharsets.UTF_8);
  }

  static String query(Map<String, String> parameters) {
    return parameters.entrySet().stream()
        .map(one -> encode(one.getKey()) + "=" + encode(one.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** A document of the provider, or why there is none. */
  private final class CachedDocument<T> {
    private final String what;
    private final Reader<T> reader;
    private volatile @Nullable Fetched<T> fetched;

    CachedDocument(String what, Reader<T> reader) {
      this.what = what;
      this.reader = reader;
    }

    /**
     * Returns the document.
     *
     * @param unknown whether the cached one lacks something
     */
    T get(URI address, boolean unknown) throws SignInException {
      Instant now = clock.instant();
      Fetched<T> last = fetched;
      if (last != null) {
        boolean stale = unknown || last.failure().isPresent();
        if (last.at().plus(stale ? RETRY_INTERVAL : CACHE_TIME).isAfter(now)) {
          return last.orThrow();
        }
      }
      try {
        T value = reader.read(connection.get(address, what));
        fetched = new Fetched<>(Optional.of(value), Optional.empty(), now);
        return value;
      } catch (SignInException e) {
        if (e.problem() == SignInProblem.PROVIDER_UNAVAILABLE) {
          fetched = new Fetched<>(Optional.empty(), Optional.of(e), now);
        }
        throw e;
      }
    }
  }

  private interface Reader<T> {
    T read(Map<String, Object> document) throws SignInException;
  }

  private record Fetched<T>(Optional<T> value, Optional<SignInException> failure, Instant at) {
    T orThrow() throws SignInException {
      if (failure.isPresent()) {
        throw new SignInException(
            failure.get().problem(), String.valueOf(failure.get().getMessage()), failure.get());
      }
      return value.orElseThrow();
    }
  }
}
