package dev.isola.compat.e2b.volume;

import dev.isola.compat.e2b.model.Body;
import dev.isola.engine.api.Settings;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.auth.TokenHash;
import dev.isola.server.route.JsonText;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The volumes that clients named, and the tokens that open them. Like a key, a token is stored as a
 * hash and shown once: each request for a volume issues a new one.
 */
final class VolumeBook {
  private static final String SCOPE = "e2b-volume";
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9_.-]{0,127}";
  private static final int TOKEN_BYTES = 32;

  /** The oldest token of a volume is void when more than these are issued. */
  private static final int MOST_TOKENS = 100;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final Settings settings;
  private final ReentrantLock lock = new ReentrantLock();

  VolumeBook(Settings settings) {
    this.settings = settings;
  }

  /**
   * One volume.
   *
   * @param hashes of the tokens that open its content, oldest first
   */
  record Named(String id, String name, List<String> hashes) {
    /** Returns the volume without a token. */
    Map<String, Object> listed() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("volumeID", id);
      json.put("name", name);
      return json;
    }

    boolean isOpenedBy(String token) {
      return TokenHash.matchesAny(token, hashes);
    }
  }

  /** Names a volume and returns it with a token, as an answer. */
  Map<String, Object> create(String name) {
    if (!name.matches(NAME)) {
      throw Body.wrong("name", "must be letters, digits, . _ and -, at most 128");
    }
    lock.lock();
    try {
      if (all().stream().anyMatch(one -> one.name().equals(name))) {
        throw Fault.of(ErrorCode.CONFLICT, "there is a volume " + name, "choose another name")
            .exception();
      }
      return issued(new Named(SandboxId.random(RANDOM).value(), name, List.of()));
    } finally {
      lock.unlock();
    }
  }

  /** Returns a volume with a new token, as an answer. */
  Map<String, Object> open(String id) {
    lock.lock();
    try {
      return issued(need(id));
    } finally {
      lock.unlock();
    }
  }

  private Map<String, Object> issued(Named volume) {
    byte[] bytes = new byte[TOKEN_BYTES];
    RANDOM.nextBytes(bytes);
    String token = HexFormat.of().formatHex(bytes);
    List<String> hashes = new ArrayList<>(volume.hashes());
    hashes.add(TokenHash.of(token));
    List<String> kept = hashes.subList(Math.max(0, hashes.size() - MOST_TOKENS), hashes.size());
    put(new Named(volume.id(), volume.name(), List.copyOf(kept)));
    Map<String, Object> json = volume.listed();
    json.put("token", Confidential.token(token, Scope.USE));
    return json;
  }

  private void put(Named volume) {
    Map<String, Object> json = volume.listed();
    json.put("tokens", volume.hashes());
    settings.put(SCOPE, volume.id(), new String(JsonText.of(json), StandardCharsets.UTF_8));
  }

  List<Named> all() {
    return settings.all(SCOPE).values().stream().map(this::read).toList();
  }

  Optional<Named> find(String id) {
    return settings.get(SCOPE, id).map(this::read);
  }

  Named need(String id) {
    return find(id)
        .orElseThrow(
            () ->
                Fault.of(ErrorCode.VOLUME_NOT_FOUND, "there is no such volume", "list the volumes")
                    .exception());
  }

  void forget(Named volume) {
    lock.lock();
    try {
      settings.remove(SCOPE, volume.id());
    } finally {
      lock.unlock();
    }
  }

  private Named read(String text) {
    Body json = new Body(JsonText.object(text));
    return new Named(json.needed("volumeID"), json.needed("name"), json.texts("tokens"));
  }

  /** Replaces tokens that earlier versions stored as they are by their hashes; they stay valid. */
  void hashStoredTokens() {
    settings
        .all(SCOPE)
        .values()
        .forEach(
            text -> {
              Body json = new Body(JsonText.object(text));
              json.text("token")
                  .ifPresent(
                      token ->
                          put(
                              new Named(
                                  json.needed("volumeID"),
                                  json.needed("name"),
                                  List.of(TokenHash.of(token)))));
            });
  }
}
