package dev.isola.server.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.RSAKey;
import dev.isola.codec.json.Json;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The keys with which a provider signs (RFC 7517). Keys that cannot be used do not affect the
 * others.
 */
record SigningKeys(List<JWK> keys) {
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(JWSAlgorithm.RS256, JWSAlgorithm.ES256);

  /** Shorter keys are broken; longer ones cost more than a client without a key may cause. */
  private static final int MIN_RSA_BITS = 2048;

  private static final int MAX_RSA_BITS = 8192;

  SigningKeys {
    keys = List.copyOf(keys);
  }

  static SigningKeys of(Map<String, Object> document) {
    List<JWK> keys = new ArrayList<>();
    if (document.get("keys") instanceof List<?> all) {
      for (Object key : all) {
        if (key instanceof Map<?, ?> fields) {
          key(fields).ifPresent(keys::add);
        }
      }
    }
    return new SigningKeys(keys);
  }

  private static Optional<JWK> key(Map<?, ?> fields) {
    try {
      JWK key = JWK.parse(Json.text(fields));
      boolean usable =
          !(key instanceof RSAKey) || (key.size() >= MIN_RSA_BITS && key.size() <= MAX_RSA_BITS);
      return usable ? Optional.of(key) : Optional.empty();
    } catch (ParseException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  static boolean accepts(JWSHeader header) {
    return ALGORITHMS.contains(header.getAlgorithm());
  }

  /**
   * Finds the key of a signature. A token without {@code kid} has a key only if there is no choice.
   */
  Optional<JWK> find(JWSHeader header) {
    JWKMatcher matcher = JWKMatcher.forJWSHeader(header);
    List<JWK> matching = keys.stream().filter(matcher::matches).toList();
    return matching.size() == 1 ? Optional.of(matching.getFirst()) : Optional.empty();
  }

  static boolean verifies(JWK key, JWSObject token) {
    try {
      return switch (key) {
        case RSAKey rsa -> token.verify(new RSASSAVerifier(rsa));
        case ECKey ec -> token.verify(new ECDSAVerifier(ec));
        default -> false;
      };
    } catch (JOSEException e) {
      return false; // the signature is malformed
    }
  }
}
