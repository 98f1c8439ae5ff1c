package dev.isola.server.auth;

import dev.isola.codec.digest.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collection;

/** Hashes keys and tokens for storage, so that reading the ledger does not disclose them. */
public final class TokenHash {
  private TokenHash() {}

  /** Returns the SHA-256 of a high-entropy token in hexadecimal. */
  public static String of(String token) {
    return Sha256.hex(token);
  }

  /** Compares a token with all hashes, in a time that does not depend on which one matches. */
  public static boolean matchesAny(String token, Collection<String> hashes) {
    byte[] presented = of(token).getBytes(StandardCharsets.US_ASCII);
    boolean found = false;
    for (String hash : hashes) {
      found |= MessageDigest.isEqual(presented, hash.getBytes(StandardCharsets.US_ASCII));
    }
    return found;
  }
}
