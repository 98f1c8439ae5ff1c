package dev.isola.client;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** API keys of a server. Requires a key with scope admin. */
public final class ApiKeys {
  /** Description of a key, without its secret. */
  public record ApiKey(
      String name,
      String scope,
      Instant createdAt,
      Optional<Instant> lastUsedAt,
      Map<String, Object> document) {
    static ApiKey read(JsonFields fields) {
      return new ApiKey(
          fields.text("name"),
          fields.text("scope"),
          fields.time("createdAt"),
          fields.optionalTime("lastUsedAt"),
          fields.all());
    }
  }

  /** A newly created key. {@code key} is the secret, which the server returns only this once. */
  public record CreatedKey(String name, String scope, String key) {
    @Override
    public String toString() {
      return "CreatedKey[name=" + name + ", scope=" + scope + ", key=***]";
    }
  }

  private static final ApiPath ENDPOINT = ApiPath.of("keys");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private final Transport transport;

  ApiKeys(Transport transport) {
    this.transport = transport;
  }

  public List<ApiKey> list() {
    return transport.get(ENDPOINT).list("keys").stream().map(ApiKey::read).toList();
  }

  /**
   * Creates a key.
   *
   * @param scope read, use or admin
   */
  public CreatedKey create(String name, String scope) {
    return create(name, scope, false);
  }

  /**
   * Creates a key.
   *
   * @param scope read, use or admin
   * @param strictNoFallback whether sandboxes created with the key never fall back to another
   *     provider
   */
  public CreatedKey create(String name, String scope, boolean strictNoFallback) {
    Map<String, Object> body = new LinkedHashMap<>(Map.of("name", name, "scope", scope));
    if (strictNoFallback) {
      body.put("strictNoFallback", true);
    }
    JsonFields response = transport.post(ENDPOINT, body);
    return new CreatedKey(response.text("name"), response.text("scope"), response.text("key"));
  }

  /**
   * Changes the policy of a key.
   *
   * @param strictNoFallback whether sandboxes created with the key never fall back to another
   *     provider
   */
  public ApiKey update(String name, boolean strictNoFallback) {
    return ApiKey.read(
        transport.patch(ENDPOINT.resolve(name), Map.of("strictNoFallback", strictNoFallback)));
  }

  public void revoke(String name) {
    transport.delete(ENDPOINT.resolve(name), TIMEOUT);
  }
}
