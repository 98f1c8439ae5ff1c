package dev.isola.server.auth;

import dev.isola.engine.api.SettingsStore;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Settings in memory. */
public final class FakeSettings implements SettingsStore {
  private long version;
  final Map<String, Map<String, String>> scopes = new TreeMap<>();

  @Override
  public Optional<String> get(String scope, String name) {
    return Optional.ofNullable(all(scope).get(name));
  }

  @Override
  public void put(String scope, String name, String value) {
    version++;
    scopes.computeIfAbsent(scope, any -> new TreeMap<>()).put(name, value);
  }

  @Override
  public String putIfAbsent(String scope, String name, String value) {
    Optional<String> there = get(scope, name);
    if (there.isEmpty()) {
      put(scope, name, value);
    }
    return there.orElse(value);
  }

  @Override
  public boolean replace(String scope, String name, String value) {
    boolean there = get(scope, name).isPresent();
    if (there) {
      put(scope, name, value);
    }
    return there;
  }

  @Override
  public boolean remove(String scope, String name) {
    version++;
    return scopes.getOrDefault(scope, new TreeMap<>()).remove(name) != null;
  }

  @Override
  public long version(String scope) {
    return version;
  }

  @Override
  public Map<String, String> all(String scope) {
    return Map.copyOf(scopes.getOrDefault(scope, Map.of()));
  }
}
