package dev.isola.server.oidc;

import static dev.isola.server.oidc.FakeOidcProvider.CLIENT_ID;
import static dev.isola.server.oidc.FakeOidcProvider.CLIENT_SECRET;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import dev.isola.engine.api.Log;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.FakeSettings;
import dev.isola.server.auth.Scope;
import dev.isola.spi.Secret;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** D15: which ID tokens sign a person in, and what a provider cannot do to the server. */
@Timeout(60)
class OidcSignInTest {
  private static final String ORIGIN = "http://localhost:7777";

  private static final KeyPair OTHER = FakeOidcProvider.rsa();

  private final FakeClock clock = new FakeClock();
  private final List<String> logged = new ArrayList<>();
  private final SequencedMap<String, String> names = new LinkedHashMap<>();
  private final Log log =
      new Log() {
        @Override
        public void info(String sentence) {
          logged.add(sentence);
        }

        @Override
        public void warning(String sentence) {
          throw new AssertionError(sentence);
        }
      };
  private FakeOidcProvider provider;
  private ApiKeys keys;

  @BeforeEach
  void open() throws IOException {
    provider = new FakeOidcProvider(clock);
    keys = ApiKeys.open(new FakeSettings(), Optional.empty(), clock);
    keys.create("team", Scope.USE);
    keys.create("ops", Scope.ADMIN);
    names.put("anna@example.org", "team");
  }

  @AfterEach
  void close() {
    provider.close();
  }

  private OidcSignIn signIn(String claim) {
    return signIn(provider.issuer(), claim);
  }

  private OidcSignIn signIn(URI issuer, String claim) {
    return new OidcSignIn(
        new OidcSettings(
            issuer,
            CLIENT_ID,
            Optional.of(Secret.of(CLIENT_SECRET)),
            List.of("openid", "email"),
            claim,
            names,
            Optional.empty()),
        keys,
        clock,
        log,
        Duration.ofSeconds(1));
  }

  private static OidcSignIn.Callback callback(String query) {
    Map<String, String> values = FakeOidcProvider.query(query.substring(1));
    return new OidcSignIn.Callback(
        Optional.ofNullable(values.get("code")),
        Optional.ofNullable(values.get("state")),
        Optional.ofNullable(values.get("error")),
        Optional.ofNullable(values.get("iss")));
  }

  /** Signs in as a browser does; returns the name of the key. */
  private String complete(OidcSignIn signIn) throws SignInException {
    OidcSignIn.Begun begun = signIn.begin(ORIGIN, "/ui");
    String query = provider.signIn(begun.location().toString());
    return signIn.complete(List.of(begun.cookie()), callback(query)).key().name();
  }

  private void assertRefused(OidcSignIn signIn, SignInProblem problem) {
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(() -> complete(signIn))
        .satisfies(e -> assertThat(e.problem()).as(e.getMessage()).isEqualTo(problem));
  }

  @Test
  void verifiedEmailSignsInWithBothAlgorithms() throws SignInException {
    OidcSignIn signIn = signIn("email");
    assertThat(complete(signIn)).isEqualTo("team");
    provider.keyId = "ec-1";
    assertThat(complete(signIn)).isEqualTo("team");
    assertThat(provider.discoveries).hasValue(1);
    assertThat(provider.keyRequests).hasValue(1);
    assertThat(logged).isEmpty();
  }

  @Test
  void authorizationRequestHasPkceStateAndNonce() throws SignInException {
    OidcSignIn.Begun begun = signIn("email").begin("https://isola.example.org", "/ui");
    Map<String, String> query = FakeOidcProvider.query(begun.location().getRawQuery());
    assertThat(query)
        .containsEntry("tenant", "1")
        .containsEntry("response_type", "code")
        .containsEntry("client_id", CLIENT_ID)
        .containsEntry("scope", "openid email")
        .containsEntry("code_challenge_method", "S256")
        .containsEntry("redirect_uri", "https://isola.example.org/api/v1/session/oidc/callback");
    assertThat(Stream.of("state", "nonce", "code_challenge").map(query::get).distinct())
        .hasSize(3)
        .allSatisfy(value -> assertThat(value).hasSize(43));
    // The browser keeps the verifier, but cannot read it.
    assertThat(new String(Base64.getUrlDecoder().decode(begun.cookie()), UTF_8))
        .doesNotContain("verifier", query.get("state"));
  }

  /** A token that must not sign anyone in. */
  private record WrongToken(String name, Consumer<FakeOidcProvider> fault) {
    static WrongToken claim(String name, String claim, Object value) {
      return new WrongToken(
          name,
          provider ->
              provider.claims =
                  claims -> {
                    claims.put(claim, value);
                    return claims;
                  });
    }

    static WrongToken without(String claim) {
      return new WrongToken(
          "without " + claim,
          provider ->
              provider.claims =
                  claims -> {
                    claims.remove(claim);
                    return claims;
                  });
    }

    static WrongToken token(
        String name, BiFunction<FakeOidcProvider, Map<String, Object>, String> token) {
      return new WrongToken(
          name, provider -> provider.tokens = claims -> token.apply(provider, claims));
    }
  }

  private static String signed(
      FakeOidcProvider provider,
      Map<String, Object> header,
      Map<String, Object> claims,
      String key,
      String algorithm) {
    try {
      return FakeOidcProvider.signed(header, claims, provider.key(key).getPrivate(), algorithm);
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static String hmac(Map<String, Object> claims, byte[] secret) {
    try {
      String body = FakeOidcProvider.unsigned(Map.of("alg", "HS256", "kid", "rsa-1"), claims);
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return body
          + "."
          + Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(mac.doFinal(body.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private List<WrongToken> wrongTokens() {
    long now = clock.instant().getEpochSecond();
    Map<String, Object> rs256 = Map.of("alg", "RS256", "kid", "rsa-1");
    return List.of(
        WrongToken.claim("another issuer", "iss", "https://evil.example.org"),
        WrongToken.claim("another issuer by a slash", "iss", provider.issuer() + "/"),
        WrongToken.without("iss"),
        WrongToken.claim("another audience", "aud", "other"),
        WrongToken.claim("an audience that is a part", "aud", CLIENT_ID + "2"),
        WrongToken.claim("several audiences without azp", "aud", List.of(CLIENT_ID, "other")),
        WrongToken.without("aud"),
        WrongToken.claim("another authorized party", "azp", "other"),
        WrongToken.claim("another nonce", "nonce", "x".repeat(43)),
        WrongToken.without("nonce"),
        WrongToken.claim("expired", "exp", now - 61),
        WrongToken.claim("an expiry that is text", "exp", "never"),
        WrongToken.claim("an expiry out of range", "exp", 1e300),
        WrongToken.without("exp"),
        WrongToken.claim("issued in the future", "iat", now + 120),
        WrongToken.claim("issued before the sign-in", "iat", now - 3600),
        WrongToken.without("iat"),
        WrongToken.claim("not valid yet", "nbf", now + 120),
        WrongToken.without("sub"),
        WrongToken.token(
            "alg none",
            (one, claims) -> FakeOidcProvider.unsigned(Map.of("alg", "none"), claims) + "."),
        WrongToken.token(
            "alg None with a signature",
            (one, claims) ->
                FakeOidcProvider.unsigned(Map.of("alg", "None", "kid", "rsa-1"), claims) + ".AAAA"),
        WrongToken.token(
            "HS256 with the public key",
            (one, claims) -> hmac(claims, one.key("rsa-1").getPublic().getEncoded())),
        WrongToken.token(
            "HS256 with the client secret",
            (one, claims) -> hmac(claims, CLIENT_SECRET.getBytes(UTF_8))),
        WrongToken.token(
            "RS512",
            (one, claims) ->
                signed(
                    one, Map.of("alg", "RS512", "kid", "rsa-1"), claims, "rsa-1", "SHA512withRSA")),
        WrongToken.token(
            "a key that the provider does not have",
            (one, claims) -> {
              one.keys.put("other", OTHER);
              String token = signed(one, rs256, claims, "other", "SHA256withRSA");
              one.keys.remove("other");
              return token;
            }),
        WrongToken.token(
            "an unknown kid",
            (one, claims) ->
                signed(
                    one, Map.of("alg", "RS256", "kid", "other"), claims, "rsa-1", "SHA256withRSA")),
        WrongToken.token(
            "the kid of a key of another type",
            (one, claims) ->
                signed(
                    one, Map.of("alg", "RS256", "kid", "ec-1"), claims, "rsa-1", "SHA256withRSA")),
        WrongToken.token(
            "a critical header",
            (one, claims) ->
                signed(
                    one,
                    Map.of("alg", "RS256", "kid", "rsa-1", "crit", List.of("b64"), "b64", false),
                    claims,
                    "rsa-1",
                    "SHA256withRSA")),
        WrongToken.token(
            "a signature of other claims",
            (one, claims) -> {
              String token = signed(one, rs256, Map.of("iss", "x"), "rsa-1", "SHA256withRSA");
              return FakeOidcProvider.unsigned(rs256, claims)
                  + token.substring(token.lastIndexOf('.'));
            }),
        WrongToken.token(
            "ES256 with zeros",
            (one, claims) ->
                FakeOidcProvider.unsigned(Map.of("alg", "ES256", "kid", "ec-1"), claims)
                    + "."
                    + Base64.getUrlEncoder().withoutPadding().encodeToString(new byte[64])),
        WrongToken.token(
            "ES256 as DER",
            (one, claims) ->
                signed(
                    one, Map.of("alg", "ES256", "kid", "ec-1"), claims, "ec-1", "SHA256withECDSA")),
        WrongToken.token("no signature", (one, claims) -> FakeOidcProvider.unsigned(rs256, claims)),
        WrongToken.token("no token", (one, claims) -> ""),
        WrongToken.token("no JSON", (one, claims) -> "AAAA.AAAA.AAAA"),
        WrongToken.token("no base64url", (one, claims) -> "*.*.*"),
        WrongToken.token("too long", (one, claims) -> "A.".repeat(40_000)),
        WrongToken.token(
            "a name twice in the header",
            (one, claims) -> {
              String twice = "{\"alg\":\"RS256\",\"alg\":\"none\"}";
              return Base64.getUrlEncoder().encodeToString(twice.getBytes(UTF_8)) + ".e30.AAAA";
            }));
  }

  @TestFactory
  Stream<DynamicTest> wrongTokensAreRefused() {
    return wrongTokens().stream()
        .map(
            wrong ->
                DynamicTest.dynamicTest(
                    wrong.name(),
                    () -> {
                      try (FakeOidcProvider own = new FakeOidcProvider(clock)) {
                        provider.close();
                        provider = own;
                        OidcSignIn signIn = signIn("email");
                        assertThat(complete(signIn)).as("control").isEqualTo("team");
                        wrong.fault().accept(own);
                        assertRefused(signIn, SignInProblem.INVALID_TOKEN);
                      }
                    }));
  }

  @Test
  void severalAudiencesWithTheClientAsAuthorizedPartySignIn() throws SignInException {
    provider.claims =
        claims -> {
          claims.put("aud", List.of("other", CLIENT_ID));
          claims.put("azp", CLIENT_ID);
          return claims;
        };
    assertThat(complete(signIn("email"))).isEqualTo("team");
  }

  @Test
  void replacedKeyIsFetchedAtALimitedRate() throws Exception {
    OidcSignIn signIn = signIn("email");
    assertThat(complete(signIn)).isEqualTo("team");
    provider.keys.put("rsa-2", OTHER);
    provider.keyId = "rsa-2";
    for (int i = 0; i < 5; i++) {
      assertRefused(signIn, SignInProblem.INVALID_TOKEN);
    }
    assertThat(provider.keyRequests).hasValue(1);
    clock.advance(OidcProvider.RETRY_INTERVAL);
    assertThat(complete(signIn)).isEqualTo("team");
    assertThat(provider.keyRequests).hasValue(2);
  }

  @Test
  void callbackCountsOnce() throws SignInException {
    provider.acceptsReplayedCodes = true;
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun begun = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Callback callback = callback(provider.signIn(begun.location().toString()));
    List<String> cookies = List.of(begun.cookie());
    assertThat(signIn.complete(cookies, callback).key().name()).isEqualTo("team");
    assertExpired(signIn, cookies, callback);
    assertThat(provider.tokenRequests).hasValue(1);
  }

  @Test
  void codeCountsOnceEvenInAnotherSignIn() throws SignInException {
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun first = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Begun second = signIn.begin(ORIGIN, "/ui");
    String code = callback(provider.signIn(first.location().toString())).code().orElseThrow();
    provider.acceptsReplayedCodes = true;
    String state = callback(provider.signIn(second.location().toString())).state().orElseThrow();
    // The code of one sign-in with the state and cookie of another has the wrong verifier.
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(
            () ->
                signIn.complete(
                    List.of(second.cookie()),
                    new OidcSignIn.Callback(
                        Optional.of(code), Optional.of(state), Optional.empty(), Optional.empty())))
        .satisfies(e -> assertThat(e.problem()).isEqualTo(SignInProblem.INVALID_TOKEN));
  }

  @Test
  void callbackNeedsTheCookieOfItsOwnSignIn() throws SignInException {
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun own = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Begun foreign = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Callback callback = callback(provider.signIn(own.location().toString()));
    assertExpired(signIn, List.of(), callback);
    assertExpired(signIn, List.of(foreign.cookie()), callback);
    assertExpired(signIn, List.of(own.cookie(), foreign.cookie()), callback);
    assertExpired(signIn, List.of(signIn("email").begin(ORIGIN, "/ui").cookie()), callback);
    char last = own.cookie().charAt(own.cookie().length() - 3);
    assertExpired(
        signIn,
        List.of(
            own.cookie().substring(0, own.cookie().length() - 3) + (last == 'A' ? "BAA" : "AAA"),
            "",
            "AAAA",
            "*",
            "A".repeat(10_000)),
        callback);
    assertThat(provider.tokenRequests).hasValue(0);
    assertThat(signIn.complete(List.of(own.cookie(), "AAAA"), callback).key().name())
        .isEqualTo("team");
  }

  @Test
  void signInExpires() throws SignInException {
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun begun = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Callback callback = callback(provider.signIn(begun.location().toString()));
    clock.advance(OidcSignIn.LIFETIME);
    assertExpired(signIn, List.of(begun.cookie()), callback);
  }

  private static void assertExpired(
      OidcSignIn signIn, List<String> cookies, OidcSignIn.Callback callback) {
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(() -> signIn.complete(cookies, callback))
        .satisfies(e -> assertThat(e.problem()).isEqualTo(SignInProblem.EXPIRED));
  }

  @Test
  void callbackOfAnotherIssuerOrWithAnErrorIsRefused() throws SignInException {
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun begun = signIn.begin(ORIGIN, "/ui");
    String query = provider.signIn(begun.location().toString());
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(
            () ->
                signIn.complete(
                    List.of(begun.cookie()), callback(query + "&iss=https://evil.example.org")))
        .satisfies(e -> assertThat(e.problem()).isEqualTo(SignInProblem.INVALID_TOKEN));
    OidcSignIn.Begun again = signIn.begin(ORIGIN, "/ui");
    String state = FakeOidcProvider.query(again.location().getRawQuery()).get("state");
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(
            () ->
                signIn.complete(
                    List.of(again.cookie()), callback("?error=access_denied&state=" + state)))
        .satisfies(e -> assertThat(e.problem()).isEqualTo(SignInProblem.CANCELLED));
    assertThat(provider.tokenRequests).hasValue(0);
  }

  @Test
  void unverifiedEmailHasNoKey() {
    for (Object value : new Object[] {false, "true", 1}) {
      provider.claims =
          claims -> {
            claims.put("email_verified", value);
            return claims;
          };
      assertRefused(signIn("email"), SignInProblem.NO_KEY);
    }
    provider.claims =
        claims -> {
          claims.remove("email_verified");
          return claims;
        };
    assertRefused(signIn("email"), SignInProblem.NO_KEY);
  }

  @Test
  void firstConfiguredValueDecides() throws SignInException {
    names.clear();
    names.put("operators", "ops");
    names.put("staff", "team");
    provider.claims =
        claims -> {
          claims.put("groups", List.of("guests", "staff", "operators"));
          return claims;
        };
    assertThat(complete(signIn("groups"))).isEqualTo("ops");
    provider.claims =
        claims -> {
          claims.put("groups", "staff");
          return claims;
        };
    assertThat(complete(signIn("groups"))).isEqualTo("team");
    for (Object unknown : List.of(List.of("guests"), "STAFF", "staff,operators", 1, Map.of())) {
      provider.claims =
          claims -> {
            claims.put("groups", unknown);
            return claims;
          };
      assertRefused(signIn("groups"), SignInProblem.NO_KEY);
    }
    provider.claims = claims -> claims;
    assertRefused(signIn("groups"), SignInProblem.NO_KEY);
  }

  @Test
  void keyMustExist() {
    keys.revoke("team");
    assertRefused(signIn("email"), SignInProblem.NO_KEY);
  }

  @Test
  void logHasNeitherCodesNorTokensNorSecrets() throws SignInException {
    OidcSignIn signIn = signIn("email");
    OidcSignIn.Begun begun = signIn.begin(ORIGIN, "/ui");
    OidcSignIn.Callback callback = callback(provider.signIn(begun.location().toString()));
    provider.tokens = claims -> FakeOidcProvider.unsigned(Map.of("alg", "none"), claims) + ".";
    assertThatExceptionOfType(SignInException.class)
        .isThrownBy(() -> signIn.complete(List.of(begun.cookie()), callback));
    assertThat(logged).hasSize(1).allMatch(line -> line.contains("not a signed JSON Web Token"));
    assertThat(logged + callback.toString())
        .doesNotContain(
            callback.code().orElseThrow(),
            callback.state().orElseThrow(),
            CLIENT_SECRET,
            "anna",
            "eyJ");
  }

  @Test
  void discoveryDocumentMustNameTheIssuerAndSecureEndpoints() {
    for (Map<String, Object> change :
        List.<Map<String, Object>>of(
            Map.of("issuer", "https://evil.example.org"),
            Map.of("issuer", provider.issuer() + "/"),
            Map.of("token_endpoint", "ftp://127.0.0.1/token"),
            Map.of("token_endpoint", 1),
            Map.of("jwks_uri", "file:///etc/passwd"),
            Map.of("authorization_endpoint", "javascript:alert(1)"),
            Map.of("authorization_endpoint", "not a URL"))) {
      provider.discovery =
          document -> {
            document.putAll(change);
            return document;
          };
      assertRefused(signIn("email"), SignInProblem.PROVIDER_UNAVAILABLE);
    }
  }

  @Test
  void providerThatIsDownIsAskedAgainAfterSomeSeconds() throws Exception {
    URI issuer = provider.issuer();
    provider.discovery = document -> Map.of();
    OidcSignIn signIn = signIn(issuer, "email");
    for (int i = 0; i < 5; i++) {
      assertRefused(signIn, SignInProblem.PROVIDER_UNAVAILABLE);
    }
    assertThat(provider.discoveries).hasValue(1);
    provider.discovery = document -> document;
    clock.advance(OidcProvider.RETRY_INTERVAL);
    assertThat(complete(signIn)).isEqualTo("team");
    provider.close();
    assertRefused(signIn, SignInProblem.PROVIDER_UNAVAILABLE);
    assertRefused(signIn(issuer, "email"), SignInProblem.PROVIDER_UNAVAILABLE);
  }

  @Test
  void slowAndEndlessResponsesAreCutOff() throws IOException {
    CountDownLatch ended = new CountDownLatch(1);
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext(
        "/slow",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            do { // a read timeout alone would never end this response
              out.write(' ');
              out.flush();
            } while (!ended.await(50, TimeUnit.MILLISECONDS));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    http.createContext(
        "/endless",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            byte[] block = new byte[64 * 1024];
            while (true) {
              out.write(block);
            }
          }
        });
    http.createContext(
        "/moved",
        exchange -> {
          exchange.getResponseHeaders().set("Location", provider.issuer() + "/");
          exchange.sendResponseHeaders(302, -1);
          exchange.close();
        });
    http.start();
    try {
      for (String path : List.of("/slow", "/endless", "/moved")) {
        URI issuer = URI.create("http://127.0.0.1:" + http.getAddress().getPort() + path);
        assertRefused(signIn(issuer, "email"), SignInProblem.PROVIDER_UNAVAILABLE);
      }
    } finally {
      ended.countDown();
      http.stop(0);
    }
  }
}
