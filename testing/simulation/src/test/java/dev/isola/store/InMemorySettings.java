package dev.isola.store;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Settings. */
final class InMemorySettings implements SettingEntries {
  private final InMemoryLedger ledger;
  private final Map<String, TreeMap<String, String>> scopes = new HashMap<>();
  private final Map<String, Long> versions = new HashMap<>();

  InMemorySettings(InMemoryLedger ledger) {
    this.ledger = ledger;
  }

  @Override
  public Optional<String> get(String scope, String name) {
    return ledger.locked(() -> Optional.ofNullable(scope(scope).get(name)));
  }

  @Override
  public void put(String scope, String name, String value) {
    boolean _ = ledger.locked(() -> set(scope, name, value));
  }

  @Override
  public String putIfAbsent(String scope, String name, String value) {
    return ledger.locked(
        () -> {
          String known = scope(scope).get(name);
          if (known == null) {
            put(scope, name, value);
          }
          return known == null ? value : known;
        });
  }

  @Override
  public boolean replace(String scope, String name, String value) {
    return ledger.locked(() -> scope(scope).containsKey(name) && set(scope, name, value));
  }

  @Override
  public boolean remove(String scope, String name) {
    return ledger.locked(() -> set(scope, name, null));
  }

  private boolean set(String scope, String name, @Nullable String value) {
    versions.merge(scope, 1L, Long::sum);
    String before = exchange(scope, name, value);
    ledger.onRollback(
        () -> {
          String _ = exchange(scope, name, before);
        });
    return before != null;
  }

  private @Nullable String exchange(String scope, String name, @Nullable String value) {
    return value == null ? scope(scope).remove(name) : scope(scope).put(name, value);
  }

  @Override
  public long version(String scope) {
    return ledger.locked(() -> versions.getOrDefault(scope, 0L));
  }

  @Override
  public Map<String, String> all(String scope) {
    return ledger.locked(() -> new TreeMap<>(scope(scope)));
  }

  private Map<String, String> scope(String name) {
    return scopes.computeIfAbsent(name, _ -> new TreeMap<>());
  }
}
