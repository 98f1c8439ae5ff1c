package dev.isola.server.auth;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.SettingsStore;
import dev.isola.spi.SandboxId;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The sessions of browsers. The ledger stores only hashes of their secrets, so sessions survive a
 * restart, and reading the ledger discloses none. A session is valid while its key exists with the
 * same hash, or while its token is valid.
 */
public final class Sessions {
  static final String SCOPE = "session";

  /** The most sessions of a key, or of the tokens of a sandbox. The oldest ones end first. */
  static final int MAX_PER_OWNER = 32;

  /** How often the expiry of a session that is used is written. */
  private static final Duration EXTENSION_INTERVAL = Duration.ofMinutes(1);

  private static final SecureRandom RANDOM = new SecureRandom();

  private final SettingsStore settings;
  private final InstantSource clock;
  private final Function<String, Optional<ApiKey>> keys;
  private final ReentrantLock lock = new ReentrantLock();
  private final BooleanSupplier refreshAfterMiss;
  private final Map<String, Session> sessions = new ConcurrentHashMap<>();

  /** A new session with its secret, which cannot be retrieved later. */
  public record CreatedSession(Session session, String secret) {
    @Override
    public String toString() {
      return session.keyName();
    }
  }

  /**
   * @param keys finds a key by its name
   * @param refreshAfterMiss reads what other servers have changed, and returns whether it did
   */
  Sessions(
      SettingsStore settings,
      InstantSource clock,
      Function<String, Optional<ApiKey>> keys,
      BooleanSupplier refreshAfterMiss) {
    this.settings = settings;
    this.clock = clock;
    this.keys = keys;
    this.refreshAfterMiss = refreshAfterMiss;
    settings.all(SCOPE).forEach((hash, text) -> sessions.put(hash, read(hash, text)));
    removeInvalid();
  }

  /**
   * Creates a session.
   *
   * @param key the key that the session stands for
   * @param token the claims of the token that {@code key} stands for, if it is one
   */
  public CreatedSession create(ApiKey key, Optional<SandboxToken> token) {
    byte[] bytes = new byte[32];
    RANDOM.nextBytes(bytes);
    String secret = HexFormat.of().formatHex(bytes);
    Instant now = clock.instant();
    Session fresh =
        new Session(TokenHash.of(secret), key.name(), key.hash(), token, now, Instant.EPOCH);
    Session session = fresh.expiringAt(fresh.expiryAfterUse(now));
    lock.lock();
    try {
      removeInvalid();
      List<Session> others =
          sessions.values().stream()
              .filter(session::hasSameOwner)
              .sorted(Comparator.comparing(Session::createdAt).reversed())
              .toList();
      others.stream().skip(MAX_PER_OWNER - 1).forEach(this::remove);
      write(session);
    } finally {
      lock.unlock();
    }
    return new CreatedSession(session, secret);
  }

  /** Finds a valid session by its secret, and extends it. */
  public Optional<Session> find(String secret) {
    Optional<Session> known = findKnown(secret);
    return known.isEmpty() && refreshAfterMiss.getAsBoolean() ? findKnown(secret) : known;
  }

  /** Reads the sessions from the ledger, which other servers have changed. */
  void reload() {
    lock.lock();
    try {
      Map<String, Session> stored = new HashMap<>();
      settings.all(SCOPE).forEach((hash, text) -> stored.put(hash, read(hash, text)));
      sessions.keySet().retainAll(stored.keySet());
      sessions.putAll(stored);
    } finally {
      lock.unlock();
    }
  }

  private Optional<Session> findKnown(String secret) {
    return Optional.ofNullable(sessions.get(TokenHash.of(secret)))
        .filter(this::isValid)
        .map(this::extend);
  }

  /** Returns the key that a valid session of a key stands for. */
  Optional<ApiKey> key(Session session) {
    return keys.apply(session.keyName()).filter(key -> key.hash().equals(session.keyHash()));
  }

  /** Ends a session with immediate effect. */
  public void end(Session session) {
    lock.lock();
    try {
      remove(session);
    } finally {
      lock.unlock();
    }
  }

  private boolean isValid(Session session) {
    return session.expiresAt().isAfter(clock.instant())
        && (session.token().isPresent() || key(session).isPresent());
  }

  private Session extend(Session session) {
    Instant expiry = session.expiryAfterUse(clock.instant());
    boolean recent = expiry.isBefore(session.expiresAt().plus(EXTENSION_INTERVAL));
    if (recent || !lock.tryLock()) {
      return session;
    }
    try {
      Session extended = session.expiringAt(expiry);
      if (sessions.containsKey(session.hash())
          && settings.replace(SCOPE, session.hash(), toJson(extended))) {
        sessions.put(session.hash(), extended);
      }
      return extended;
    } finally {
      lock.unlock();
    }
  }

  private void removeInvalid() {
    sessions.values().stream().filter(session -> !isValid(session)).forEach(this::remove);
  }

  private void remove(Session session) {
    sessions.remove(session.hash());
    settings.remove(SCOPE, session.hash());
  }

  private void write(Session session) {
    settings.put(SCOPE, session.hash(), toJson(session));
    sessions.put(session.hash(), session);
  }

  private static String toJson(Session session) {
    Map<String, String> text = new LinkedHashMap<>();
    text.put("key", session.keyName());
    text.put("keyHash", session.keyHash());
    session
        .token()
        .ifPresent(
            token -> {
              text.put("tokenScope", token.kind().word());
              text.put("sandbox", token.sandbox().value());
              text.put("tokenExpiresAt", token.expiresAt().toString());
            });
    text.put("createdAt", session.createdAt().toString());
    text.put("expiresAt", session.expiresAt().toString());
    return Json.text(text);
  }

  private static Session read(String hash, String text) {
    Map<String, String> fields = new TreeMap<>();
    Json.parseObject(text).forEach((field, value) -> fields.put(field, String.valueOf(value)));
    return new Session(
        hash,
        fields.getOrDefault("key", ""),
        fields.getOrDefault("keyHash", ""),
        Optional.ofNullable(fields.get("sandbox"))
            .map(
                sandbox ->
                    new SandboxToken(
                        SandboxToken.Kind.of(fields.getOrDefault("tokenScope", "")),
                        new SandboxId(sandbox),
                        0,
                        time(fields, "tokenExpiresAt"))),
        time(fields, "createdAt"),
        time(fields, "expiresAt"));
  }

  private static Instant time(Map<String, String> fields, String name) {
    return Instant.parse(fields.getOrDefault(name, Instant.EPOCH.toString()));
  }
}
