package dev.isola.engine.ledger;

import dev.isola.engine.api.SettingsStore;
import dev.isola.store.Ledger;
import java.util.Map;
import java.util.Optional;

/** Settings stored in the ledger. */
public record LedgerSettingsStore(Ledger ledger) implements SettingsStore {
  @Override
  public Optional<String> get(String scope, String name) {
    return ledger.settings().get(scope, name);
  }

  @Override
  public void put(String scope, String name, String value) {
    ledger.settings().put(scope, name, value);
  }

  @Override
  public String putIfAbsent(String scope, String name, String value) {
    return ledger.settings().putIfAbsent(scope, name, value);
  }

  @Override
  public boolean replace(String scope, String name, String value) {
    return ledger.settings().replace(scope, name, value);
  }

  @Override
  public boolean remove(String scope, String name) {
    return ledger.settings().remove(scope, name);
  }

  @Override
  public long version(String scope) {
    return ledger.settings().version(scope);
  }

  @Override
  public Map<String, String> all(String scope) {
    return ledger.settings().all(scope);
  }
}
