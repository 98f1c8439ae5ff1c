package dev.isola.engine.lifecycle;

import dev.isola.codec.json.Json;
import dev.isola.engine.secret.SealedScope;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Stores the values of secret variables for as long as the sandbox may have to be created again, by
 * a fork or a restore. The ledger holds them encrypted and bound to the id of the sandbox.
 */
public record SecretEnvStore(Ledger ledger, SealedSettings settings) {

  /** Stores the secrets of a sandbox after its intent was recorded and before it is created. */
  public void put(SandboxId id, Map<String, Secret> values) {
    if (values.isEmpty()) {
      return;
    }
    Map<String, String> texts = new LinkedHashMap<>();
    values.forEach(
        (name, value) -> texts.put(name, new String(value.reveal(), StandardCharsets.UTF_8)));
    settings.put(SealedScope.SECRET_ENV, id.value(), Json.bytes(texts));
  }

  /**
   * Returns the secrets of a sandbox; empty if it has none.
   *
   * @throws dev.isola.spi.error.Internal if they cannot be decrypted
   */
  public Map<String, Secret> get(SandboxId id) {
    Map<String, Secret> values = new LinkedHashMap<>();
    settings
        .get(SealedScope.SECRET_ENV, id.value())
        .ifPresent(
            json ->
                Json.parseObject(json)
                    .forEach((name, value) -> values.put(name, Secret.of(String.valueOf(value)))));
    return values;
  }

  /** Removes the secrets of a destroyed sandbox. */
  void remove(SandboxId id) {
    boolean _ = settings.remove(SealedScope.SECRET_ENV, id.value());
  }

  /** Removes secrets that a crash left behind, whose sandboxes do not exist. */
  public void removeOrphans() {
    for (String name : settings.names(SealedScope.SECRET_ENV)) {
      Optional<SandboxEntry> entry = ledger.sandboxes().find(new SandboxId(name));
      if (entry.filter(one -> one.state() != SandboxState.DESTROYED).isEmpty()) {
        boolean _ = settings.remove(SealedScope.SECRET_ENV, name);
      }
    }
  }
}
