package dev.isola.engine.secret;

import dev.isola.codec.digest.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** A key for AES-256-GCM. It prints as its id. */
final class EncryptionKey {
  static final int BYTES = 32;

  private static final int ID_BYTES = 8;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String id;
  private final byte[] bytes;

  private EncryptionKey(byte[] bytes) {
    this.bytes = bytes.clone();
    this.id = idOf(bytes);
  }

  /** Returns a key of {@link #BYTES} bytes. */
  static EncryptionKey of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException("a key has " + BYTES + " bytes");
    }
    return new EncryptionKey(bytes);
  }

  static EncryptionKey random() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return new EncryptionKey(bytes);
  }

  /** Returns the id of the key, which is stored with each value and reveals nothing of the key. */
  String id() {
    return id;
  }

  byte[] bytes() {
    return bytes.clone();
  }

  /**
   * Encrypts a value.
   *
   * @param context the place of the value; it cannot be decrypted for another one
   * @return the nonce and the encrypted value
   */
  byte[] encrypt(String context, byte[] value) {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    try {
      byte[] encrypted = cipher(Cipher.ENCRYPT_MODE, nonce, context).doFinal(value);
      byte[] all = new byte[nonce.length + encrypted.length];
      System.arraycopy(nonce, 0, all, 0, nonce.length);
      System.arraycopy(encrypted, 0, all, nonce.length, encrypted.length);
      return all;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform supports AES-GCM", e);
    }
  }

  /**
   * Decrypts what {@link #encrypt} returned.
   *
   * @throws GeneralSecurityException if it was encrypted with another key or for another place, or
   *     was changed
   */
  byte[] decrypt(String context, byte[] all) throws GeneralSecurityException {
    if (all.length < NONCE_BYTES) {
      throw new GeneralSecurityException("too short");
    }
    byte[] nonce = new byte[NONCE_BYTES];
    System.arraycopy(all, 0, nonce, 0, NONCE_BYTES);
    return cipher(Cipher.DECRYPT_MODE, nonce, context)
        .doFinal(all, NONCE_BYTES, all.length - NONCE_BYTES);
  }

  private Cipher cipher(int mode, byte[] nonce, String context) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, new SecretKeySpec(bytes, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD(context.getBytes(StandardCharsets.UTF_8));
    return cipher;
  }

  private static String idOf(byte[] key) {
    MessageDigest digest = Sha256.newDigest();
    digest.update("isola secrets key id\n".getBytes(StandardCharsets.US_ASCII));
    return HexFormat.of().formatHex(digest.digest(key), 0, ID_BYTES);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EncryptionKey that && MessageDigest.isEqual(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  @Override
  public String toString() {
    return "key " + id;
  }
}
