package dev.isola.server.oidc;

import static dev.isola.server.oidc.SignInException.invalidToken;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.jwk.JWK;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7), more strictly than it requires:
 * only signatures with RS256 and ES256, no critical headers, and only tokens that were issued
 * during the sign-in.
 */
final class IdTokenVerifier {
  /** The longest token. Real ones have about one kilobyte. */
  static final int MAX_LENGTH = 64 * 1024;

  /** How far the clocks of the provider and of this server may differ. */
  static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

  private final String issuer;
  private final String clientId;
  private final InstantSource clock;

  /** Finds the key of a signature. */
  interface KeySource {
    Optional<JWK> key(JWSHeader header) throws SignInException;
  }

  IdTokenVerifier(String issuer, String clientId, InstantSource clock) {
    this.issuer = issuer;
    this.clientId = clientId;
    this.clock = clock;
  }

  /** Returns the claims of a valid token. */
  Map<String, Object> verify(String token, String nonce, KeySource keys) throws SignInException {
    JWSObject signed = parse(token);
    JWSHeader header = signed.getHeader();
    if (!SigningKeys.accepts(header)) {
      throw invalidToken("it is not signed with RS256 or ES256");
    }
    if (header.getIncludedParams().contains("crit")) {
      throw invalidToken("it has critical headers");
    }
    JWK key =
        keys.key(header)
            .orElseThrow(() -> invalidToken("the provider has no key for its signature"));
    if (!SigningKeys.verifies(key, signed)) {
      throw invalidToken("its signature is wrong");
    }
    Map<String, Object> claims = claims(signed);
    checkParties(claims);
    checkTimes(claims);
    if (text(claims.get("nonce")).filter(one -> SignInTransactions.isEqual(one, nonce)).isEmpty()) {
      throw invalidToken("its nonce is not that of the sign-in");
    }
    return claims;
  }

  private void checkParties(Map<String, Object> claims) throws SignInException {
    if (!issuer.equals(claims.get("iss"))) {
      throw invalidToken("its issuer is not oidc.issuer");
    }
    List<?> audience =
        claims.get("aud") instanceof List<?> list
            ? list
            : text(claims.get("aud")).stream().toList();
    if (!audience.contains(clientId)) {
      throw invalidToken("its audience is not oidc.client_id");
    }
    boolean authorizedPartyNeeded = audience.size() > 1 || claims.containsKey("azp");
    if (authorizedPartyNeeded && !clientId.equals(claims.get("azp"))) {
      throw invalidToken("its authorized party is not oidc.client_id");
    }
    if (text(claims.get("sub")).filter(subject -> !subject.isEmpty()).isEmpty()) {
      throw invalidToken("it has no subject");
    }
  }

  private void checkTimes(Map<String, Object> claims) throws SignInException {
    Instant now = clock.instant();
    if (!time(claims, "exp").isAfter(now.minus(CLOCK_SKEW))) {
      throw invalidToken("it has expired; compare the clocks");
    }
    Instant issued = time(claims, "iat");
    Instant earliest = now.minus(SignInTransactions.LIFETIME).minus(CLOCK_SKEW);
    if (issued.isAfter(now.plus(CLOCK_SKEW)) || issued.isBefore(earliest)) {
      throw invalidToken("it was not issued during the sign-in; compare the clocks");
    }
    if (claims.containsKey("nbf") && time(claims, "nbf").isAfter(now.plus(CLOCK_SKEW))) {
      throw invalidToken("it is not valid yet; compare the clocks");
    }
  }

  private static Instant time(Map<String, Object> claims, String name) throws SignInException {
    if (claims.get(name) instanceof Number seconds
        && Math.abs(seconds.doubleValue()) < Instant.MAX.getEpochSecond()) {
      return Instant.ofEpochSecond(seconds.longValue());
    }
    throw invalidToken("it has no valid " + name);
  }

  private static JWSObject parse(String token) throws SignInException {
    try {
      if (token.length() <= MAX_LENGTH) {
        return JWSObject.parse(token);
      }
    } catch (ParseException e) {
      // The message may contain parts of the token.
    }
    throw invalidToken("it is not a signed JSON Web Token");
  }

  private static Map<String, Object> claims(JWSObject token) throws SignInException {
    try {
      return Json.parseObject(token.getPayload().toBytes());
    } catch (MalformedJson e) {
      throw invalidToken("it is not JSON");
    }
  }

  private static Optional<String> text(@Nullable Object value) {
    return value instanceof String text ? Optional.of(text) : Optional.empty();
  }
}
