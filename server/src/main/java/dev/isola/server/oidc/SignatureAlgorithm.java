package dev.isola.server.oidc;

import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Optional;
import java.util.stream.Stream;

/** The signatures that are accepted (RFC 7518); the names are those of {@code alg}. */
enum SignatureAlgorithm {
  RS256("SHA256withRSA"),
  ES256("SHA256withECDSAinP1363Format");

  private final String javaName;

  SignatureAlgorithm(String javaName) {
    this.javaName = javaName;
  }

  static Optional<SignatureAlgorithm> of(String name) {
    return Stream.of(values()).filter(one -> one.name().equals(name)).findFirst();
  }

  boolean verifies(PublicKey key, byte[] content, byte[] signature) {
    try {
      Signature verifier = Signature.getInstance(javaName);
      verifier.initVerify(key);
      verifier.update(content);
      return verifier.verify(signature);
    } catch (GeneralSecurityException e) {
      return false; // the signature is malformed
    }
  }
}
