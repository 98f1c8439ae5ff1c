package dev.isola.compat.e2b.volume;

import dev.isola.codec.json.Json;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.engine.api.SettingsStore;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.auth.TokenHash;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Issues and validates the tokens of volumes. Like an API key, a token is stored as a hash and
 * disclosed once: each request for a volume issues a new one.
 */
final class VolumeTokens {
  static final String SCOPE = "e2b-volume-token";

  private static final int TOKEN_BYTES = 32;

  /** The maximum number of valid tokens per volume; issuing another one invalidates the oldest. */
  private static final int MAX_TOKENS = 100;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final SettingsStore settings;
  private final ReentrantLock lock = new ReentrantLock();

  VolumeTokens(SettingsStore settings) {
    this.settings = settings;
  }

  /** Issues a token. */
  Confidential issue(String volume) {
    byte[] bytes = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(bytes);
    String token = HexFormat.of().formatHex(bytes);
    lock.lock();
    try {
      List<String> hashes = new ArrayList<>(hashes(volume));
      hashes.add(TokenHash.of(token));
      put(volume, hashes.subList(Math.max(0, hashes.size() - MAX_TOKENS), hashes.size()));
    } finally {
      lock.unlock();
    }
    return Confidential.token(token, Scope.USE);
  }

  boolean isValid(String volume, String token) {
    return TokenHash.matchesAny(token, hashes(volume));
  }

  void revokeAll(String volume) {
    lock.lock();
    try {
      settings.remove(SCOPE, volume);
    } finally {
      lock.unlock();
    }
  }

  private void put(String volume, List<String> hashes) {
    Map<String, Object> json = Map.of("tokens", List.copyOf(hashes));
    settings.put(SCOPE, volume, Json.text(json));
  }

  private List<String> hashes(String volume) {
    return settings
        .get(SCOPE, volume)
        .map(text -> new E2bRequestBody(Json.parseObject(text)).texts("tokens"))
        .orElse(List.of());
  }
}
