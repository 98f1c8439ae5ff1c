package dev.isola.server.oidc;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The sign-ins in progress. Each is kept by its browser, as a cookie that only servers of this
 * installation can read and write, so that requests without credentials cost no memory of the
 * server. The server remembers those that have been completed, because each counts once.
 */
final class SignInTransactions {
  /** How long a person may take to sign in at the provider. */
  static final Duration LIFETIME = Duration.ofMinutes(10);

  /** The most completed sign-ins that are remembered, each until it would expire. */
  static final int MAX_COMPLETED = 10_000;

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int IV_BYTES = 12;
  private static final int TAG_BITS = 128;

  /** Longer than any cookie of this class. */
  private static final int MAX_COOKIE = 4096;

  private final SecureRandom random = new SecureRandom();
  private final SecretKeySpec key;
  private final InstantSource clock;
  private final Map<String, Instant> completed = new ConcurrentHashMap<>();

  /**
   * @param key 32 bytes, the same at all servers that share the ledger: a browser may come back to
   *     another one
   */
  SignInTransactions(InstantSource clock, byte[] key) {
    this.key = new SecretKeySpec(key, "AES");
    this.clock = clock;
  }

  SignInTransaction begin(URI redirectUri, String returnPath) {
    return new SignInTransaction(
        text(), text(), text(), redirectUri, returnPath, clock.instant().plus(LIFETIME));
  }

  /** Returns the value of the cookie that stores a transaction. */
  String seal(SignInTransaction transaction) {
    byte[] iv = bytes(IV_BYTES);
    try {
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, iv).doFinal(transaction.toBytes());
      byte[] all = Arrays.copyOf(iv, iv.length + sealed.length);
      System.arraycopy(sealed, 0, all, iv.length, sealed.length);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(all);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-GCM is not available", e);
    }
  }

  /**
   * Returns the transaction that a callback completes, once.
   *
   * @param cookies the values of the cookie in the request. Two valid ones are none, because
   *     another page may have set one of them
   * @param state the parameter of the callback
   */
  SignInTransaction complete(List<String> cookies, String state) throws SignInException {
    Instant now = clock.instant();
    List<SignInTransaction> valid =
        cookies.stream()
            .flatMap(cookie -> open(cookie).stream())
            .filter(one -> one.expiresAt().isAfter(now))
            .toList();
    if (valid.size() != 1 || !isEqual(valid.getFirst().state(), state)) {
      throw new SignInException(
          SignInProblem.EXPIRED, "the callback does not belong to a sign-in of the browser");
    }
    completed.values().removeIf(expiry -> !expiry.isAfter(now));
    if (completed.size() >= MAX_COMPLETED) {
      throw new SignInException(SignInProblem.TOO_MANY, "too many sign-ins in ten minutes");
    }
    if (completed.putIfAbsent(state, valid.getFirst().expiresAt()) != null) {
      throw new SignInException(SignInProblem.EXPIRED, "the callback was sent before");
    }
    return valid.getFirst();
  }

  static boolean isEqual(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  private Optional<SignInTransaction> open(String cookie) {
    if (cookie.length() > MAX_COOKIE) {
      return Optional.empty();
    }
    try {
      byte[] all = Base64.getUrlDecoder().decode(cookie);
      if (all.length <= IV_BYTES) {
        return Optional.empty();
      }
      byte[] iv = Arrays.copyOf(all, IV_BYTES);
      byte[] opened = cipher(Cipher.DECRYPT_MODE, iv).doFinal(all, IV_BYTES, all.length - IV_BYTES);
      return Optional.of(SignInTransaction.of(opened));
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      return Optional.empty(); // of another server, of this one before its restart, or forged
    }
  }

  private Cipher cipher(int mode, byte[] iv) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, iv));
    return cipher;
  }

  private String text() {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes(32));
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
