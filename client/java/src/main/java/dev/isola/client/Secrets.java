package dev.isola.client;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Secrets of a server. No method returns a value. Storing and removing requires a key with scope
 * admin.
 */
public final class Secrets {
  /**
   * Description of a secret, without its value.
   *
   * @param hosts the hosts that receive the value
   * @param keys names of the API keys that may use it in a sandbox; empty for every key
   * @param placeholder what sandboxes have in place of the value
   */
  public record SecretInfo(
      String name,
      List<String> hosts,
      List<String> keys,
      String placeholder,
      Instant createdAt,
      Instant updatedAt,
      Map<String, Object> document) {
    static SecretInfo read(JsonFields fields) {
      return new SecretInfo(
          fields.text("name"),
          fields.strings("hosts"),
          fields.strings("keys"),
          fields.text("placeholder"),
          fields.time("createdAt"),
          fields.time("updatedAt"),
          fields.all());
    }
  }

  /**
   * The result of a rotation of the key that encrypts all secrets.
   *
   * @param keyId the id of the key in use
   * @param values the number of values encrypted again
   */
  public record KeyRotation(String keyId, long values) {}

  private static final ApiPath ENDPOINT = ApiPath.of("secrets");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration ROTATION_TIMEOUT = Duration.ofMinutes(10);
  private final Transport transport;

  Secrets(Transport transport) {
    this.transport = transport;
  }

  /** Lists the secrets that the key may use; all of them with scope admin. */
  public List<SecretInfo> list() {
    return transport.get(ENDPOINT).list("secrets").stream().map(SecretInfo::read).toList();
  }

  public SecretInfo get(String name) {
    return SecretInfo.read(transport.get(ENDPOINT.resolve(name)));
  }

  /**
   * Stores a secret, or replaces its value and hosts.
   *
   * @param hosts the hosts that receive the value: names, or {@code *.suffix}
   */
  public SecretInfo put(String name, String value, List<String> hosts) {
    return put(name, value, hosts, List.of());
  }

  /**
   * Stores a secret, or replaces its value, hosts and keys.
   *
   * @param hosts the hosts that receive the value: names, or {@code *.suffix}
   * @param keys names of the API keys that may use it in a sandbox; empty for every key
   */
  public SecretInfo put(String name, String value, List<String> hosts, List<String> keys) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("value", value);
    body.put("hosts", hosts);
    if (!keys.isEmpty()) {
      body.put("keys", keys);
    }
    return SecretInfo.read(transport.put(ENDPOINT.resolve(name), body));
  }

  /** Removes a secret. Sandboxes that use it keep running without the value. */
  public void remove(String name) {
    transport.delete(ENDPOINT.resolve(name), TIMEOUT);
  }

  /** Encrypts all secrets of the server with another key. */
  public KeyRotation rotateKey() {
    JsonFields response =
        transport.post(ApiPath.of("secret-key", "rotate"), Map.of(), ROTATION_TIMEOUT);
    return new KeyRotation(response.text("keyId"), response.integer("values"));
  }
}
