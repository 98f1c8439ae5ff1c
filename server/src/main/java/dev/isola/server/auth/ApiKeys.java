package dev.isola.server.auth;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The API keys of this installation. The ledger stores only hashes, so reading it discloses no key.
 * A key from the environment is never stored.
 */
public final class ApiKeys {
  /** The name of the key from the environment. */
  public static final String ENVIRONMENT = "environment";

  private static final String SCOPE = "api-key";

  /** When keys were used last, apart from the keys: recording a use must not undo a change. */
  private static final String USE_SCOPE = "api-key-use";

  /** The prefix of generated keys. */
  public static final String PREFIX = "isk_";

  /**
   * The prefix that E2B's clients require. A key with this prefix in place of {@link #PREFIX} is
   * the same key.
   */
  public static final String E2B_PREFIX = "e2b_";

  private static final int MIN_LENGTH = 16;
  private static final Duration LAST_USED_RESOLUTION = Duration.ofMinutes(1);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SettingsStore settings;
  private final InstantSource clock;
  private final SandboxTokens tokens;
  private final PublicPorts publicPorts;
  private final Sessions sessions;
  private final Optional<ApiKey> fromEnvironment;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Map<String, ApiKey> keys;
  private volatile Optional<CredentialRefresh> refresh = Optional.empty();

  /** A new key with its secret, which cannot be retrieved later. */
  public record CreatedKey(ApiKey key, String secret) {
    @Override
    public String toString() {
      return key.name();
    }
  }

  private ApiKeys(SettingsStore settings, InstantSource clock, Optional<ApiKey> fromEnvironment) {
    this.settings = settings;
    this.clock = clock;
    this.fromEnvironment = fromEnvironment;
    this.tokens = new SandboxTokens(settings, clock);
    this.publicPorts = new PublicPorts(settings);
    this.keys = load();
    this.sessions = new Sessions(settings, clock, this::byName, this::refreshAfterMiss);
  }

  /** Finds a key by its name. */
  public Optional<ApiKey> byName(String name) {
    return Optional.ofNullable(keys.get(name));
  }

  /**
   * Loads the keys from the ledger.
   *
   * @param fromEnvironment a key with scope admin, if one is set
   */
  public static ApiKeys open(
      SettingsStore settings, Optional<String> fromEnvironment, InstantSource clock) {
    return new ApiKeys(
        settings, clock, fromEnvironment.map(secret -> environmentKey(secret, clock)));
  }

  private static ApiKey environmentKey(String secret, InstantSource clock) {
    if (secret.length() < MIN_LENGTH || !secret.chars().allMatch(c -> c > ' ' && c < 127)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "ISOLA_API_KEY is not a valid API key",
              "use at least "
                  + MIN_LENGTH
                  + " visible ASCII characters, such as"
                  + " isk_ and 64 hexadecimal digits")
          .exception();
    }
    return new ApiKey(
        ENVIRONMENT, Scope.ADMIN, hash(secret), false, clock.instant(), Optional.empty());
  }

  /** Reads the keys from the ledger. */
  private Map<String, ApiKey> load() {
    Map<String, String> uses = settings.all(USE_SCOPE);
    Map<String, ApiKey> loaded = new TreeMap<>();
    settings
        .all(SCOPE)
        .forEach(
            (name, text) -> {
              ApiKey key = read(name, text);
              Optional<Instant> used =
                  Optional.ofNullable(uses.get(name))
                      .map(Instant::parse)
                      .filter(at -> !at.isBefore(key.createdAt()));
              loaded.put(name, used.map(key::usedAt).orElse(key));
            });
    fromEnvironment.ifPresent(key -> loaded.put(ENVIRONMENT, key));
    return Map.copyOf(loaded);
  }

  /**
   * Follows changes that other servers make, until the result is closed. A key or a session that
   * another server created is found at once; one that another server removed is refused within a
   * second.
   */
  public CredentialRefresh followChanges(Log log) {
    CredentialRefresh started =
        CredentialRefresh.start(
            settings, Map.of(SCOPE, this::reload, Sessions.SCOPE, sessions::reload), log);
    refresh = Optional.of(started);
    return started;
  }

  private void reload() {
    lock.lock();
    try {
      keys = load();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether credentials were read again, since one is not known here. */
  boolean refreshAfterMiss() {
    return refresh.filter(CredentialRefresh::refreshAfterMiss).isPresent();
  }

  /** Reads what other servers have changed, before a change. */
  private void refreshBeforeChange() {
    if (refresh.isPresent()) {
      keys = load();
    }
  }

  /** Returns the tokens that grant access to a single sandbox. */
  public SandboxTokens tokens() {
    return tokens;
  }

  /** Returns the ports that are accessible without a credential. */
  public PublicPorts publicPorts() {
    return publicPorts;
  }

  /** Returns the sessions of browsers. */
  public Sessions sessions() {
    return sessions;
  }

  public boolean isEmpty() {
    return keys.isEmpty();
  }

  /** Returns all keys by name. */
  public List<ApiKey> all() {
    if (refresh.isPresent()) {
      reload(); // other servers record uses
    }
    return new TreeMap<>(keys).values().stream().toList();
  }

  /**
   * Creates a key.
   *
   * @throws dev.isola.spi.error.Conflict when the name is in use
   */
  public CreatedKey create(String name, Scope scope) {
    return create(name, scope, false);
  }

  /**
   * Creates a key.
   *
   * @param strictNoFallback see {@link ApiKey#strictNoFallback()}
   * @throws dev.isola.spi.error.Conflict when the name is in use
   */
  public CreatedKey create(String name, Scope scope, boolean strictNoFallback) {
    byte[] bytes = new byte[32];
    RANDOM.nextBytes(bytes);
    String secret = PREFIX + HexFormat.of().formatHex(bytes);
    ApiKey key =
        new ApiKey(name, scope, hash(secret), strictNoFallback, clock.instant(), Optional.empty());
    lock.lock();
    try {
      refreshBeforeChange();
      boolean free = !keys.containsKey(name) && !name.equals(ENVIRONMENT);
      if (!free || !settings.putIfAbsent(SCOPE, name, toJson(key)).equals(toJson(key))) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "there is already a key named " + name,
                "choose another name, or revoke that one first")
            .exception();
      }
      put(key);
    } finally {
      lock.unlock();
    }
    return new CreatedKey(key, secret);
  }

  /**
   * Changes the policy of a key with immediate effect. Its sessions continue.
   *
   * @param strictNoFallback see {@link ApiKey#strictNoFallback()}
   * @return the key; empty if there is none
   * @throws dev.isola.spi.error.Conflict for the key from the environment, which is not stored
   */
  public Optional<ApiKey> update(String name, boolean strictNoFallback) {
    lock.lock();
    try {
      refreshBeforeChange();
      ApiKey key = keys.get(name);
      if (key == null) {
        return Optional.empty();
      }
      if (name.equals(ENVIRONMENT)) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the key from the environment cannot be changed",
                "create a key and use it in place of ISOLA_API_KEY")
            .exception();
      }
      ApiKey updated = key.withStrictNoFallback(strictNoFallback);
      if (!settings.replace(SCOPE, name, toJson(updated))) {
        return Optional.empty(); // another server has just revoked it
      }
      put(updated);
      return Optional.of(updated);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Revokes a key with immediate effect.
   *
   * @return whether the key existed
   * @throws dev.isola.spi.error.Conflict for the key from the environment
   */
  public boolean revoke(String name) {
    lock.lock();
    try {
      refreshBeforeChange();
      ApiKey key = keys.get(name);
      if (key == null) {
        return false;
      }
      if (name.equals(ENVIRONMENT)) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "the key from the environment cannot be revoked",
                "start the server with another ISOLA_API_KEY, or without")
            .exception();
      }
      settings.remove(SCOPE, name);
      settings.remove(USE_SCOPE, name);
      Map<String, ApiKey> left = new TreeMap<>(keys);
      left.remove(name);
      keys = Map.copyOf(left);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Finds a key by its secret, in a time that does not depend on which key matches. */
  public Optional<ApiKey> find(String secret) {
    Optional<ApiKey> known = findKnown(secret);
    return known.isEmpty() && refreshAfterMiss() ? findKnown(secret) : known;
  }

  private Optional<ApiKey> findKnown(String secret) {
    byte[] presented = hash(secret).getBytes(StandardCharsets.US_ASCII);
    ApiKey found = null;
    for (ApiKey key : keys.values()) {
      if (MessageDigest.isEqual(presented, key.hash().getBytes(StandardCharsets.US_ASCII))) {
        found = key;
      }
    }
    if (found != null) {
      recordUse(found);
    }
    return Optional.ofNullable(found);
  }

  /** Returns whether a secret has the format of a generated key, valid or not. */
  public static boolean hasKeyForm(String secret) {
    return secret.startsWith(PREFIX) || secret.startsWith(E2B_PREFIX);
  }

  /** Returns the hash of a key, which is the same for both prefixes. */
  private static String hash(String secret) {
    return TokenHash.of(
        secret.startsWith(E2B_PREFIX) ? PREFIX + secret.substring(E2B_PREFIX.length()) : secret);
  }

  void recordUse(ApiKey key) {
    Instant now = clock.instant();
    boolean recent =
        key.lastUsedAt().filter(last -> last.plus(LAST_USED_RESOLUTION).isAfter(now)).isPresent();
    if (recent || !lock.tryLock()) {
      return;
    }
    try {
      ApiKey current = keys.get(key.name());
      if (current != null && current.hash().equals(key.hash())) {
        ApiKey updated = current.usedAt(now);
        put(updated);
        if (!key.name().equals(ENVIRONMENT)) {
          settings.put(USE_SCOPE, key.name(), now.toString());
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void put(ApiKey key) {
    Map<String, ApiKey> more = new TreeMap<>(keys);
    more.put(key.name(), key);
    keys = Map.copyOf(more);
  }

  private static String toJson(ApiKey key) {
    Map<String, String> text = new LinkedHashMap<>();
    text.put("scope", key.scope().word());
    text.put("hash", key.hash());
    if (key.strictNoFallback()) {
      text.put("strictNoFallback", "true");
    }
    text.put("createdAt", key.createdAt().toString());
    return Json.text(text);
  }

  private static ApiKey read(String name, String text) {
    Map<String, String> fields = new TreeMap<>();
    Json.parseObject(text).forEach((field, value) -> fields.put(field, String.valueOf(value)));
    return new ApiKey(
        name,
        Scope.of(fields.getOrDefault("scope", "")).orElse(Scope.READ),
        fields.getOrDefault("hash", ""),
        Boolean.parseBoolean(fields.get("strictNoFallback")),
        Instant.parse(fields.getOrDefault("createdAt", Instant.EPOCH.toString())),
        Optional.ofNullable(fields.get("lastUsedAt")).map(Instant::parse));
  }
}
