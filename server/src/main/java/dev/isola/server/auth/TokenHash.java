package dev.isola.server.auth;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.HexFormat;

/** Keys and tokens as they are stored: a reader of the ledger cannot use what is in it. */
public final class TokenHash {
  private TokenHash() {}

  /** Returns the SHA-256 of a token of high entropy, in hexadecimal digits. */
  public static String of(String token) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Compares with every hash, in a time that does not depend on which one matches. */
  public static boolean matchesAny(String token, Collection<String> hashes) {
    byte[] shown = of(token).getBytes(StandardCharsets.US_ASCII);
    boolean found = false;
    for (String hash : hashes) {
      found |= MessageDigest.isEqual(shown, hash.getBytes(StandardCharsets.US_ASCII));
    }
    return found;
  }
}
