package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A stored secret without its value.
 *
 * @param hosts the hosts that receive the value: names, or {@code *.suffix}
 * @param keys the names of the API keys that may use it in a sandbox; every key that may create
 *     sandboxes if empty
 * @param placeholders the texts that stand for the value in a sandbox, the latest first; requests
 *     to the hosts have the value instead
 */
public record NamedSecret(
    String name,
    List<String> hosts,
    List<String> keys,
    List<String> placeholders,
    Instant createdAt,
    Instant updatedAt) {
  public NamedSecret {
    hosts = List.copyOf(hosts);
    keys = List.copyOf(keys);
    placeholders = List.copyOf(placeholders);
  }

  /** Returns the placeholder for new sandboxes. */
  public String placeholder() {
    return placeholders.getFirst();
  }

  /** Returns whether a key may use this secret in a sandbox. */
  public boolean allows(Optional<String> key) {
    return keys.isEmpty() || key.filter(keys::contains).isPresent();
  }

  /** Returns the error for a secret that does not exist, or that the client may not use. */
  public static SandboxException notFound(String name) {
    return Fault.of(
            ErrorCode.SECRET_NOT_FOUND,
            "there is no secret named " + name + " that this key may use",
            "list the secrets with: isola secrets ls")
        .exception();
  }
}
