package dev.isola.server.auth;

import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.SandboxId;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Issues and verifies tokens for single sandboxes. Tokens are not stored: each contains its claims,
 * signed with a secret in the ledger that is generated on first use. Sandbox ids are never reused,
 * so a token is void once its sandbox has ended.
 */
public final class SandboxTokens {
  /** The prefix of tokens, which distinguishes them from keys. */
  public static final String PREFIX = "ist_";

  private static final String SCOPE = "sandbox-token";
  private static final String SECRET = "secret";
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MAX_LENGTH = 512;
  private static final Pattern CLAIMS =
      Pattern.compile("(use|read|preview) ([a-z0-9]{1,32}) ([0-9]{1,5}) ([0-9]{1,12})");
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SettingsStore settings;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile byte @Nullable [] secret;

  SandboxTokens(SettingsStore settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
  }

  /** Signs a token. Its expiry is rounded down to a second. */
  public Confidential sign(SandboxToken token) {
    String claims =
        token.kind().word()
            + " "
            + token.sandbox()
            + " "
            + token.port()
            + " "
            + token.expiresAt().getEpochSecond();
    String text = text(claims.getBytes(StandardCharsets.US_ASCII));
    return Confidential.token(PREFIX + text + "." + signature(text), Scope.USE);
  }

  /**
   * Returns a secret that is derived from the sandbox id and stays the same for the life of the
   * sandbox. It is not stored.
   *
   * @param purpose separates the secrets of a sandbox from each other
   */
  public Confidential stableToken(SandboxId sandbox, String purpose) {
    return Confidential.token(signature(purpose + " " + sandbox), Scope.USE);
  }

  /**
   * Returns a key for a purpose of the server, which is the same at all servers that share the
   * ledger.
   */
  public byte[] deriveKey(String purpose) {
    return mac("key " + purpose);
  }

  /** Returns whether a value is the {@link #stableToken} of a sandbox. */
  public boolean isStableToken(SandboxId sandbox, String purpose, String presented) {
    return MessageDigest.isEqual(
        stableToken(sandbox, purpose).reveal().getBytes(StandardCharsets.UTF_8),
        presented.getBytes(StandardCharsets.UTF_8));
  }

  /** Verifies a token; empty if it is invalid or expired. */
  public Optional<SandboxToken> find(String text) {
    int dot = text.indexOf('.');
    if (!text.startsWith(PREFIX) || dot < 0 || text.length() > MAX_LENGTH) {
      return Optional.empty();
    }
    String claims = text.substring(PREFIX.length(), dot);
    byte[] presented = text.substring(dot + 1).getBytes(StandardCharsets.UTF_8);
    byte[] expected = signature(claims).getBytes(StandardCharsets.UTF_8);
    return MessageDigest.isEqual(expected, presented)
        ? read(new String(Base64.getUrlDecoder().decode(claims), StandardCharsets.US_ASCII))
        : Optional.empty();
  }

  private Optional<SandboxToken> read(String claims) {
    Matcher form = CLAIMS.matcher(claims);
    if (!form.matches()) {
      return Optional.empty();
    }
    SandboxToken token =
        new SandboxToken(
            SandboxToken.Kind.of(form.group(1)),
            new SandboxId(form.group(2)),
            Integer.parseInt(form.group(3)),
            Instant.ofEpochSecond(Long.parseLong(form.group(4))));
    return Optional.of(token).filter(one -> one.expiresAt().isAfter(clock.instant()));
  }

  /** Returns the instant this many seconds from now, without a fraction. */
  public Instant expiryAfter(long seconds) {
    return Instant.ofEpochSecond(clock.instant().getEpochSecond() + seconds);
  }

  private static String text(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Signs the encoded claims rather than their values, so that there is only one valid encoding.
   */
  private String signature(String claims) {
    return text(mac(claims));
  }

  private byte[] mac(String claims) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret(), ALGORITHM));
      return mac.doFinal(claims.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("not available: " + ALGORITHM, e);
    }
  }

  private byte[] secret() {
    byte[] cached = secret;
    if (cached != null) {
      return cached;
    }
    lock.lock();
    try {
      byte[] generated = new byte[32];
      RANDOM.nextBytes(generated);
      String stored =
          settings
              .get(SCOPE, SECRET)
              .orElseGet(
                  () -> settings.putIfAbsent(SCOPE, SECRET, HexFormat.of().formatHex(generated)));
      byte[] now = HexFormat.of().parseHex(stored);
      secret = now;
      return now;
    } finally {
      lock.unlock();
    }
  }
}
