package dev.isola.server.oidc;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The keys with which a provider signs (RFC 7517). Keys of other types and uses are left out. */
record JsonWebKeySet(List<Entry> entries) {
  private static final int MIN_RSA_BITS = 2048;
  private static final int MAX_RSA_BITS = 8192;
  private static final int MAX_EXPONENT_BITS = 32;
  private static final int P256_BYTES = 32;

  /**
   * A key.
   *
   * @param id the {@code kid}, if the key has one
   */
  record Entry(Optional<String> id, SignatureAlgorithm algorithm, PublicKey key) {}

  JsonWebKeySet {
    entries = List.copyOf(entries);
  }

  static JsonWebKeySet of(Map<String, Object> document) {
    List<Entry> entries = new ArrayList<>();
    if (document.get("keys") instanceof List<?> keys) {
      for (Object key : keys) {
        if (key instanceof Map<?, ?> fields) {
          entry(fields).ifPresent(entries::add);
        }
      }
    }
    return new JsonWebKeySet(entries);
  }

  /**
   * Finds the key of a signature. A token without {@code kid} has a key only if there is no choice.
   */
  Optional<PublicKey> find(Optional<String> id, SignatureAlgorithm algorithm) {
    List<Entry> matching =
        entries.stream()
            .filter(one -> one.algorithm() == algorithm)
            .filter(one -> id.isEmpty() || one.id().equals(id))
            .toList();
    return matching.size() == 1 ? Optional.of(matching.getFirst().key()) : Optional.empty();
  }

  private static Optional<Entry> entry(Map<?, ?> fields) {
    Optional<String> use = text(fields, "use");
    Optional<SignatureAlgorithm> algorithm =
        switch (text(fields, "kty").orElse("")) {
          case "RSA" -> Optional.of(SignatureAlgorithm.RS256);
          case "EC" -> Optional.of(SignatureAlgorithm.ES256);
          default -> Optional.empty();
        };
    boolean signs = use.isEmpty() || use.get().equals("sig");
    boolean matches =
        text(fields, "alg")
            .map(name -> algorithm.filter(one -> one.name().equals(name)).isPresent())
            .orElse(true);
    if (algorithm.isEmpty() || !signs || !matches) {
      return Optional.empty();
    }
    try {
      Optional<PublicKey> key =
          algorithm.get() == SignatureAlgorithm.RS256 ? rsa(fields) : ec(fields);
      return key.map(one -> new Entry(text(fields, "kid"), algorithm.get(), one));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return Optional.empty(); // a key that cannot be used does not affect the others
    }
  }

  private static Optional<PublicKey> rsa(Map<?, ?> fields) throws GeneralSecurityException {
    BigInteger modulus = number(fields, "n");
    BigInteger exponent = number(fields, "e");
    return modulus.bitLength() < MIN_RSA_BITS
            || modulus.bitLength() > MAX_RSA_BITS
            || exponent.bitLength() > MAX_EXPONENT_BITS
        ? Optional.empty()
        : Optional.of(
            KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent)));
  }

  private static Optional<PublicKey> ec(Map<?, ?> fields) throws GeneralSecurityException {
    BigInteger x = number(fields, "x");
    BigInteger y = number(fields, "y");
    if (!text(fields, "crv").equals(Optional.of("P-256"))
        || x.bitLength() > P256_BYTES * 8
        || y.bitLength() > P256_BYTES * 8) {
      return Optional.empty();
    }
    AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
    curve.init(new ECGenParameterSpec("secp256r1"));
    return Optional.of(
        KeyFactory.getInstance("EC")
            .generatePublic(
                new ECPublicKeySpec(
                    new ECPoint(x, y), curve.getParameterSpec(ECParameterSpec.class))));
  }

  private static BigInteger number(Map<?, ?> fields, String name) {
    return new BigInteger(1, Base64.getUrlDecoder().decode(text(fields, name).orElse("")));
  }

  private static Optional<String> text(Map<?, ?> fields, String name) {
    return fields.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }
}
