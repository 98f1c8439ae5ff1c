package dev.isola.server.oidc;

import dev.isola.engine.api.Log;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.ApiKeys;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Signs people in with an OpenID Connect provider: a value of a claim of their ID token stands for
 * an API key. No token of the provider is stored or logged.
 */
public final class OidcSignIn {
  /** The path of the callback below the address of this server. */
  public static final String CALLBACK = "/api/v1/session/oidc/callback";

  /** How long a browser keeps a sign-in in progress. */
  public static final Duration LIFETIME = SignInTransactions.LIFETIME;

  /** The deadline of each request to the provider. */
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private static final String EMAIL = "email";

  private final OidcSettings settings;
  private final ApiKeys keys;
  private final Log log;
  private final SignInTransactions transactions;
  private final OidcProvider provider;
  private final IdTokenVerifier verifier;

  /**
   * A sign-in that has begun.
   *
   * @param location where the browser signs in
   * @param cookie the value of the cookie without which the callback is refused
   */
  public record Begun(URI location, String cookie) {}

  /**
   * A completed sign-in.
   *
   * @param returnPath the page of the dashboard to open
   */
  public record Completed(ApiKey key, String returnPath) {}

  /**
   * The parameters of a callback.
   *
   * @param error the provider's error in place of a code
   * @param issuer the provider, if it names itself (RFC 9207)
   */
  public record Callback(
      Optional<String> code,
      Optional<String> state,
      Optional<String> error,
      Optional<String> issuer) {
    @Override
    public String toString() {
      return "Callback"; // the code grants access
    }
  }

  public OidcSignIn(OidcSettings settings, ApiKeys keys, InstantSource clock, Log log) {
    this(settings, keys, clock, log, TIMEOUT);
  }

  /**
   * @param timeout the deadline of each request to the provider
   */
  public OidcSignIn(
      OidcSettings settings, ApiKeys keys, InstantSource clock, Log log, Duration timeout) {
    this.settings = settings;
    this.keys = keys;
    this.log = log;
    transactions = new SignInTransactions(clock, keys.tokens().deriveKey("oidc-sign-in"));
    provider = new OidcProvider(settings, clock, timeout);
    verifier = new IdTokenVerifier(settings.issuer().toString(), settings.clientId(), clock);
  }

  /** Returns the host of the provider, which people recognize. */
  public String providerHost() {
    return settings.issuer().getHost();
  }

  /**
   * Begins a sign-in.
   *
   * @param origin the address of this server according to the request, such as {@code
   *     https://isola.example.org}
   */
  public Begun begin(String origin, String returnPath) throws SignInException {
    String base = settings.publicUrl().map(URI::toString).orElse(origin);
    URI callback = URI.create(base.replaceFirst("/+$", "") + CALLBACK);
    SignInTransaction transaction = transactions.begin(callback, returnPath);
    try {
      URI endpoint = provider.metadata().authorizationEndpoint();
      Map<String, String> query = new LinkedHashMap<>();
      query.put("response_type", "code");
      query.put("client_id", settings.clientId());
      query.put("redirect_uri", callback.toString());
      query.put("scope", String.join(" ", settings.scopes()));
      query.put("state", transaction.state());
      query.put("nonce", transaction.nonce());
      query.put("code_challenge", transaction.challenge());
      query.put("code_challenge_method", "S256");
      String separator = endpoint.getRawQuery() == null ? "?" : "&";
      return new Begun(
          URI.create(endpoint + separator + OidcProvider.query(query)),
          transactions.seal(transaction));
    } catch (SignInException e) {
      throw logged(e);
    }
  }

  /**
   * Completes a sign-in.
   *
   * @param cookies the values of the cookie of {@link #begin} in the request
   */
  public Completed complete(List<String> cookies, Callback callback) throws SignInException {
    try {
      SignInTransaction transaction = transactions.complete(cookies, callback.state().orElse(""));
      if (callback.issuer().filter(one -> !one.equals(settings.issuer().toString())).isPresent()) {
        throw new SignInException(
            SignInProblem.INVALID_TOKEN, "the callback names another issuer than oidc.issuer");
      }
      if (callback.error().isPresent() || callback.code().isEmpty()) {
        throw new SignInException(SignInProblem.CANCELLED, "the provider did not send a code");
      }
      String token = provider.idToken(transaction, callback.code().get());
      Map<String, Object> claims = verifier.verify(token, transaction.nonce(), provider::key);
      return new Completed(key(claims), transaction.returnPath());
    } catch (SignInException e) {
      throw logged(e);
    }
  }

  /** Returns the key of the first configured value that the claim has. */
  private ApiKey key(Map<String, Object> claims) throws SignInException {
    List<?> values =
        claims.get(settings.claim()) instanceof List<?> list
            ? list
            : Optional.ofNullable(claims.get(settings.claim())).stream().toList();
    if (settings.claim().equals(EMAIL) && !Boolean.TRUE.equals(claims.get("email_verified"))) {
      throw new SignInException(
          SignInProblem.NO_KEY, "the provider has not verified the e-mail address");
    }
    String name =
        settings.keys().entrySet().stream()
            .filter(entry -> values.contains(entry.getKey()))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElseThrow(
                () ->
                    new SignInException(
                        SignInProblem.NO_KEY,
                        "no value of the claim " + settings.claim() + " is in oidc.keys"));
    return keys.byName(name)
        .orElseThrow(
            () ->
                new SignInException(
                    SignInProblem.NO_KEY,
                    "oidc.keys names the key " + name + ", which is missing"));
  }

  private SignInException logged(SignInException e) {
    if (e.problem() != SignInProblem.EXPIRED) {
      log.info("a sign-in with OpenID Connect failed: " + e.getMessage());
    }
    return e;
  }
}
