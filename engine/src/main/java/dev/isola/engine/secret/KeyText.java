package dev.isola.engine.secret;

import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The forms in which a key is provided: 32 bytes, or their Base64 form. */
final class KeyText {
  static final String REMEDY =
      "provide the Base64 form of 32 random bytes, such as the output of: openssl rand -base64 32";

  private KeyText() {}

  /**
   * Parses a key. No error quotes the content.
   *
   * @param source names the source in errors
   */
  static EncryptionKey parse(byte[] content, String source) {
    if (content.length == EncryptionKey.BYTES) {
      return EncryptionKey.of(content);
    }
    byte[] decoded = new byte[0];
    try {
      decoded =
          Base64.getDecoder().decode(new String(content, StandardCharsets.ISO_8859_1).strip());
    } catch (IllegalArgumentException e) {
      throw KeyFault.of(source + " is neither 32 bytes nor Base64", REMEDY);
    }
    if (decoded.length != EncryptionKey.BYTES) {
      throw KeyFault.of(
          source + " has " + decoded.length + " bytes instead of " + EncryptionKey.BYTES, REMEDY);
    }
    return EncryptionKey.of(decoded);
  }
}
