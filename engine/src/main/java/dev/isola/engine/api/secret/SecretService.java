package dev.isola.engine.api.secret;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.NamedSecret;
import dev.isola.engine.api.SecretKeyRotation;
import dev.isola.engine.api.SecretRequest;
import dev.isola.engine.secret.BoundSecret;
import dev.isola.engine.secret.PlaceholderGenerator;
import dev.isola.engine.secret.SealedScope;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The named secrets of an installation. The ledger stores each as one encrypted document with its
 * value and its hosts, so that neither can be read or changed there. Only {@link #bound} returns
 * values.
 */
public final class SecretService {
  public static final int MAX_SECRETS = 1000;

  /** How many placeholders of earlier values stay valid, in sandboxes that still have them. */
  static final int MAX_PLACEHOLDERS = 8;

  private static final Duration CACHE_TIME = Duration.ofSeconds(2);

  private final SealedSettings settings;
  private final InstantSource clock;
  private final PlaceholderGenerator generator = new PlaceholderGenerator(new SecureRandom());
  private final AtomicReference<Cache> cache =
      new AtomicReference<>(new Cache(Map.of(), Instant.MIN));

  private record Cache(Map<String, BoundSecret> secrets, Instant until) {}

  public SecretService(SealedSettings settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * Stores a secret, or replaces its value, hosts and keys. Sandboxes that use it get the new value
   * at once. Their placeholder stays valid; if the new value has another length, new sandboxes get
   * another one.
   *
   * @throws dev.isola.spi.error.LimitExceeded if there are too many secrets
   */
  public NamedSecret put(SecretRequest request) {
    List<BoundSecret> made = new ArrayList<>();
    settings.update(
        SealedScope.SECRET,
        request.name(),
        before -> {
          made.clear();
          made.add(replaced(request, before.map(json -> decode(request.name(), json))));
          return encode(made.getFirst());
        });
    forget();
    return made.getFirst().secret();
  }

  private BoundSecret replaced(SecretRequest request, Optional<BoundSecret> before) {
    Instant now = clock.instant();
    if (before.isEmpty() && settings.names(SealedScope.SECRET).size() >= MAX_SECRETS) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              "there are already " + MAX_SECRETS + " secrets",
              "remove those that no sandbox uses")
          .exception();
    }
    return new BoundSecret(
        new NamedSecret(
            request.name(),
            request.hosts(),
            request.keys(),
            placeholders(request, before),
            before.map(one -> one.secret().createdAt()).orElse(now),
            now),
        request.value());
  }

  private List<String> placeholders(SecretRequest request, Optional<BoundSecret> before) {
    String value = request.text();
    List<String> earlier = before.map(one -> one.secret().placeholders()).orElse(List.of());
    if (!earlier.isEmpty()
        && !earlier.getFirst().equals(value)
        && (PlaceholderGenerator.fits(earlier.getFirst(), value)
            || (earlier.getFirst().length() > value.length() && generator.needsLonger(value)))) {
      return earlier;
    }
    Set<String> taken = new HashSet<>();
    all().values().forEach(one -> taken.addAll(one.secret().placeholders()));
    String placeholder = generator.generate(value);
    while (placeholder.equals(value) || taken.contains(placeholder)) {
      placeholder = generator.generate(value);
    }
    return Stream.concat(Stream.of(placeholder), earlier.stream()).limit(MAX_PLACEHOLDERS).toList();
  }

  /** Returns all secrets by name. */
  public List<NamedSecret> list() {
    return all().values().stream().map(BoundSecret::secret).toList();
  }

  /**
   * Returns a secret without its value.
   *
   * @throws dev.isola.spi.error.NotFound if there is none
   */
  public NamedSecret get(String name) {
    BoundSecret found = all().get(name);
    if (found == null) {
      throw NamedSecret.notFound(name);
    }
    return found.secret();
  }

  /**
   * Removes a secret. Sandboxes that use it keep running with their placeholder, which is no longer
   * replaced.
   *
   * @throws dev.isola.spi.error.NotFound if there is none
   */
  public void remove(String name) {
    boolean existed = settings.remove(SealedScope.SECRET, name);
    forget();
    if (!existed) {
      throw NamedSecret.notFound(name);
    }
  }

  /** Returns those of the named secrets that exist, with their values, for requests to hosts. */
  public List<BoundSecret> bound(Collection<String> names) {
    if (names.isEmpty()) {
      return List.of();
    }
    Map<String, BoundSecret> all = all();
    return names.stream()
        .distinct()
        .flatMap(name -> Optional.ofNullable(all.get(name)).stream())
        .toList();
  }

  /** Replaces the key that all values are encrypted with. */
  public SecretKeyRotation rotateKey() {
    SecretKeyRotation rotation = settings.rotateKey();
    forget();
    return rotation;
  }

  private void forget() {
    cache.set(new Cache(Map.of(), Instant.MIN));
  }

  private Map<String, BoundSecret> all() {
    Cache now = cache.get();
    if (now.until().isAfter(clock.instant())) {
      return now.secrets();
    }
    Map<String, BoundSecret> read = new TreeMap<>();
    for (String name : settings.names(SealedScope.SECRET)) {
      settings.get(SealedScope.SECRET, name).ifPresent(json -> read.put(name, decode(name, json)));
    }
    // If a secret was changed meanwhile, the next call must read it again.
    boolean _ = cache.compareAndSet(now, new Cache(read, clock.instant().plus(CACHE_TIME)));
    return read;
  }

  private static byte[] encode(BoundSecret bound) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("value", new String(bound.value().reveal(), StandardCharsets.US_ASCII));
    document.put("hosts", bound.secret().hosts());
    document.put("keys", bound.secret().keys());
    document.put("placeholders", bound.secret().placeholders());
    document.put("createdAt", bound.secret().createdAt().toString());
    document.put("updatedAt", bound.secret().updatedAt().toString());
    return Json.bytes(document);
  }

  private static BoundSecret decode(String name, byte[] json) {
    Map<String, Object> document = Json.parseObject(json);
    return new BoundSecret(
        new NamedSecret(
            name,
            texts(document.get("hosts")),
            texts(document.get("keys")),
            texts(document.get("placeholders")),
            Instant.parse(String.valueOf(document.get("createdAt"))),
            Instant.parse(String.valueOf(document.get("updatedAt")))),
        Secret.of(String.valueOf(document.get("value"))));
  }

  private static List<String> texts(@Nullable Object value) {
    return value instanceof List<?> list ? list.stream().map(String::valueOf).toList() : List.of();
  }
}
