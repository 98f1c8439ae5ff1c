package dev.isola.codec.digest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256, which every Java platform has. */
public final class Sha256 {
  private Sha256() {}

  /** Returns a digest to which content is added piece by piece. */
  public static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  public static byte[] of(byte[] content) {
    return newDigest().digest(content);
  }

  /** Returns the digest of a text in UTF-8. */
  public static byte[] of(String text) {
    return of(text.getBytes(UTF_8));
  }

  /** Returns the digest in 64 lower-case hexadecimal digits. */
  public static String hex(byte[] content) {
    return HexFormat.of().formatHex(of(content));
  }

  /** Returns the digest of a text in UTF-8 in 64 lower-case hexadecimal digits. */
  public static String hex(String text) {
    return hex(text.getBytes(UTF_8));
  }
}
