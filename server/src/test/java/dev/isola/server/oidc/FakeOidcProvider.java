package dev.isola.server.oidc;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.isola.codec.json.Json;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An OpenID Connect provider that issues whatever tokens a test needs, on a free port. */
public final class FakeOidcProvider implements AutoCloseable {
  public static final String CLIENT_ID = "isola";
  public static final String CLIENT_SECRET = "hunter2 & more:é";

  /** Generated once, because this is slow. */
  private static final KeyPair RSA = generated("RSA");

  private static final KeyPair EC = generated("EC");

  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private final HttpServer http;
  private final InstantSource clock;
  private final Map<String, Map<String, String>> codes = new ConcurrentHashMap<>();

  public final AtomicInteger discoveries = new AtomicInteger();
  public final AtomicInteger keyRequests = new AtomicInteger();
  public final AtomicInteger tokenRequests = new AtomicInteger();

  /** Keys by id, as the provider publishes them; tokens are signed with {@link #keyId}. */
  public final Map<String, KeyPair> keys = new ConcurrentHashMap<>();

  public volatile String keyId = "rsa-1";

  /** Changes the discovery document. */
  public volatile UnaryOperator<Map<String, Object>> discovery = UnaryOperator.identity();

  /** Changes the claims of the next tokens. */
  public volatile UnaryOperator<Map<String, Object>> claims = UnaryOperator.identity();

  /** Creates the next tokens from their claims. */
  public volatile TokenFactory tokens = this::signed;

  /** Whether a code can be exchanged several times, as no provider should allow. */
  public volatile boolean acceptsReplayedCodes;

  /** Creates a token. */
  public interface TokenFactory {
    String token(Map<String, Object> claims) throws GeneralSecurityException;
  }

  public FakeOidcProvider(InstantSource clock) throws IOException {
    this.clock = clock;
    keys.put("rsa-1", RSA);
    keys.put("ec-1", EC);
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/.well-known/openid-configuration", this::discover);
    http.createContext("/jwks", this::publishKeys);
    http.createContext("/token", this::exchange);
    http.start();
  }

  public static KeyPair rsa() {
    return generated("RSA");
  }

  private static KeyPair generated(String algorithm) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      generator.initialize(
          algorithm.equals("RSA")
              ? new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4)
              : new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  public URI issuer() {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort());
  }

  public KeyPair key(String id) {
    KeyPair key = keys.get(id);
    if (key == null) {
      throw new IllegalArgumentException("no key " + id);
    }
    return key;
  }

  /** Lets the person sign in; returns the query with which the browser is sent back. */
  public String signIn(String location) {
    Map<String, String> request = query(URI.create(location).getRawQuery());
    String code = "code-" + codes.size() + "-" + System.nanoTime();
    codes.put(code, request);
    return "?code=" + code + "&state=" + request.get("state") + "&session_state=x";
  }

  private void discover(HttpExchange exchange) throws IOException {
    discoveries.incrementAndGet();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("issuer", issuer().toString());
    document.put("authorization_endpoint", issuer() + "/authorize?tenant=1");
    document.put("token_endpoint", issuer() + "/token");
    document.put("jwks_uri", issuer() + "/jwks");
    answer(exchange, 200, discovery.apply(document));
  }

  private void publishKeys(HttpExchange exchange) throws IOException {
    keyRequests.incrementAndGet();
    answer(
        exchange,
        200,
        Map.of(
            "keys",
            keys.entrySet().stream().map(one -> jwk(one.getKey(), one.getValue())).toList()));
  }

  private static Map<String, Object> jwk(String id, KeyPair key) {
    return switch (key.getPublic()) {
      case RSAPublicKey rsa ->
          Map.of(
              "kty",
              "RSA",
              "kid",
              id,
              "use",
              "sig",
              "n",
              number(rsa.getModulus(), 256),
              "e",
              number(rsa.getPublicExponent(), 3));
      case ECPublicKey ec ->
          Map.of(
              "kty",
              "EC",
              "kid",
              id,
              "crv",
              "P-256",
              "x",
              number(ec.getW().getAffineX(), 32),
              "y",
              number(ec.getW().getAffineY(), 32));
      default -> throw new IllegalArgumentException(key.getPublic().getAlgorithm());
    };
  }

  private static String number(BigInteger value, int length) {
    byte[] bytes = value.toByteArray();
    byte[] fixed = new byte[length];
    int copied = Math.min(length, bytes.length);
    System.arraycopy(bytes, bytes.length - copied, fixed, length - copied, copied);
    return BASE64.encodeToString(fixed);
  }

  private void exchange(HttpExchange exchange) throws IOException {
    tokenRequests.incrementAndGet();
    Map<String, String> form = query(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    String code = form.getOrDefault("code", "");
    Map<String, String> request = acceptsReplayedCodes ? codes.get(code) : codes.remove(code);
    try {
      if (!isClient(exchange) || request == null || !matches(form, request)) {
        answer(exchange, 400, Map.of("error", "invalid_grant"));
        return;
      }
      long now = clock.instant().getEpochSecond();
      Map<String, Object> content = new LinkedHashMap<>();
      content.put("iss", issuer().toString());
      content.put("aud", CLIENT_ID);
      content.put("sub", "person-1");
      content.put("nonce", request.get("nonce"));
      content.put("iat", now);
      content.put("exp", now + 300);
      content.put("email", "anna@example.org");
      content.put("email_verified", true);
      answer(
          exchange,
          200,
          Map.of("access_token", "unused", "id_token", tokens.token(claims.apply(content))));
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    }
  }

  /** The id and the secret are form-encoded before they become a user and a password. */
  private static boolean isClient(HttpExchange exchange) {
    String header = exchange.getRequestHeaders().getFirst("Authorization");
    if (header == null || !header.startsWith("Basic ")) {
      return false;
    }
    String[] pair = new String(Base64.getDecoder().decode(header.substring(6)), UTF_8).split(":");
    return pair.length == 2
        && URLDecoder.decode(pair[0], UTF_8).equals(CLIENT_ID)
        && URLDecoder.decode(pair[1], UTF_8).equals(CLIENT_SECRET);
  }

  private static boolean matches(Map<String, String> form, Map<String, String> request)
      throws GeneralSecurityException {
    byte[] verifier = form.getOrDefault("code_verifier", "").getBytes(UTF_8);
    String challenge = BASE64.encodeToString(MessageDigest.getInstance("SHA-256").digest(verifier));
    return challenge.equals(request.get("code_challenge"))
        && "S256".equals(request.get("code_challenge_method"))
        && form.getOrDefault("redirect_uri", "").equals(request.get("redirect_uri"))
        && "authorization_code".equals(form.get("grant_type"));
  }

  /** Signs claims with the current key. */
  public String signed(Map<String, Object> content) throws GeneralSecurityException {
    KeyPair pair = key(keyId);
    boolean rsa = pair.getPublic() instanceof RSAPublicKey;
    Map<String, Object> header = Map.of("alg", rsa ? "RS256" : "ES256", "kid", keyId);
    return signed(
        header, content, pair.getPrivate(), rsa ? "SHA256withRSA" : "SHA256withECDSAinP1363Format");
  }

  public static String signed(
      Map<String, Object> header, Map<String, Object> content, PrivateKey key, String algorithm)
      throws GeneralSecurityException {
    String body = unsigned(header, content);
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(body.getBytes(UTF_8));
    return body + "." + BASE64.encodeToString(signature.sign());
  }

  public static String unsigned(Map<String, Object> header, Map<String, Object> content) {
    return BASE64.encodeToString(Json.bytes(header))
        + "."
        + BASE64.encodeToString(Json.bytes(content));
  }

  private static void answer(HttpExchange exchange, int status, Map<String, Object> body)
      throws IOException {
    byte[] bytes = Json.bytes(body);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  static Map<String, String> query(String text) {
    Map<String, String> values = new LinkedHashMap<>();
    Arrays.stream(text.split("&"))
        .map(part -> List.of(part.split("=", 2)))
        .filter(part -> part.size() == 2)
        .forEach(
            part ->
                values.put(
                    URLDecoder.decode(part.getFirst(), UTF_8),
                    URLDecoder.decode(part.getLast(), UTF_8)));
    return values;
  }

  @Override
  public void close() {
    http.stop(0);
  }
}
