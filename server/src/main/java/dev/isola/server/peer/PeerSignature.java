package dev.isola.server.peer;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.server.auth.ApiKey;
import dev.isola.server.auth.Scope;
import dev.isola.server.auth.TokenHash;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs and verifies {@link PeerRequest}s with the key that the servers of an installation share. A
 * statement is valid for one method and target at one server, for a short time, once.
 */
final class PeerSignature {
  /** The difference of clocks that is tolerated, together with the time on the way. */
  static final Duration VALIDITY = Duration.ofSeconds(60);

  private static final String VERSION = "1";
  private static final String ALGORITHM = "HmacSHA256";
  private static final String PURPOSE = "isola peer request ";
  private static final int MAX_LENGTH = 12 * 1024;

  /** In place of the hash of a key, which the owner does not need. */
  private static final String NO_HASH = "forwarded";

  private final String self;
  private final Supplier<Secret> key;
  private final InstantSource clock;
  private final SeenNonces nonces = new SeenNonces(VALIDITY.multipliedBy(2));

  /**
   * @param self the name of this server
   */
  PeerSignature(String self, Supplier<Secret> key, InstantSource clock) {
    this.self = self;
    this.key = key;
    this.clock = clock;
  }

  /** Returns the value of the header that carries a statement. */
  String sign(PeerRequest request) {
    Map<String, Object> claims = new LinkedHashMap<>();
    claims.put("v", VERSION);
    claims.put("kind", request.kind().name());
    claims.put("from", request.from());
    claims.put("to", request.to());
    claims.put("at", request.issuedAt().toString());
    claims.put("nonce", request.nonce());
    claims.put("method", request.method());
    claims.put("target", TokenHash.of(request.target()));
    claims.put("id", request.requestId());
    claims.put("remote", request.remote());
    claims.put("secure", Boolean.toString(request.secure()));
    request
        .key()
        .ifPresent(
            one -> {
              claims.put("key", one.name());
              claims.put("scope", one.scope().word());
              claims.put("token", Boolean.toString(one.isToken()));
              claims.put("strict", Boolean.toString(one.strictNoFallback()));
            });
    String text = encode(Json.bytes(claims));
    return text + "." + encode(mac(text));
  }

  /**
   * Verifies the statement of a request.
   *
   * @param header the value of the header that carries it
   * @param method the method of the request
   * @param target the path and the query of the request
   * @throws dev.isola.spi.error.Unauthenticated when it is not valid for this request
   */
  PeerRequest verify(String header, String method, String target) {
    int dot = header.indexOf('.');
    if (dot < 0 || header.length() > MAX_LENGTH) {
      throw invalid("is malformed");
    }
    byte[] expected = encode(mac(header.substring(0, dot))).getBytes(StandardCharsets.US_ASCII);
    byte[] presented = header.substring(dot + 1).getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(expected, presented)) {
      throw invalid("was signed with another key");
    }
    Map<String, Object> claims = claims(header.substring(0, dot));
    PeerRequest request = read(claims, target);
    if (!request.to().equals(self)) {
      throw invalid("is for the server " + request.to() + ", and this is " + self);
    }
    if (!request.method().equals(method)
        || !TokenHash.of(target).equals(String.valueOf(claims.get("target")))) {
      throw invalid("is for another request");
    }
    Duration age = Duration.between(request.issuedAt(), clock.instant());
    if (age.abs().compareTo(VALIDITY) > 0) {
      throw invalid(
          "was issued "
              + age.toSeconds()
              + " s ago by the clock of this server; synchronize the clocks of the servers");
    }
    if (!nonces.add(request.nonce(), clock.instant())) {
      throw invalid("was used before");
    }
    return request;
  }

  private static Map<String, Object> claims(String text) {
    try {
      return Json.parseObject(
          new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException | MalformedJson e) {
      throw invalid("is malformed");
    }
  }

  private static PeerRequest read(Map<String, Object> claims, String target) {
    if (!VERSION.equals(claims.get("v"))) {
      throw invalid("has another version; run versions of Isola that are next to each other");
    }
    Optional<ApiKey> key =
        Optional.ofNullable(claims.get("key"))
            .map(
                name ->
                    new ApiKey(
                        String.valueOf(name),
                        Scope.of(text(claims, "scope")).orElseThrow(() -> invalid("is malformed")),
                        flag(claims, "token") ? "" : NO_HASH,
                        flag(claims, "strict"),
                        Instant.EPOCH,
                        Optional.empty()));
    try {
      return new PeerRequest(
          PeerRequest.Kind.valueOf(text(claims, "kind")),
          text(claims, "from"),
          text(claims, "to"),
          Instant.parse(text(claims, "at")),
          text(claims, "nonce"),
          text(claims, "method"),
          target,
          text(claims, "id"),
          text(claims, "remote"),
          flag(claims, "secure"),
          key);
    } catch (DateTimeException | IllegalArgumentException e) {
      throw invalid("is malformed");
    }
  }

  private static String text(Map<String, Object> claims, String name) {
    if (claims.get(name) instanceof String text) {
      return text;
    }
    throw invalid("is malformed");
  }

  private static boolean flag(Map<String, Object> claims, String name) {
    return Boolean.parseBoolean(text(claims, name));
  }

  private static SandboxException invalid(String problem) {
    return Fault.of(
            ErrorCode.UNAUTHENTICATED,
            "the header " + PeerServers.HEADER + " " + problem,
            "only servers that share the ledger send this header; do not send it")
        .exception();
  }

  private static String encode(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private byte[] mac(String text) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key.get().reveal(), ALGORITHM));
      return mac.doFinal((PURPOSE + text).getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("not available: " + ALGORITHM, e);
    }
  }
}
