package dev.isola.engine.api;

import java.util.Map;
import java.util.Optional;

/** Small values that outlive the server, by scope (such as a tenant or a user) and name. */
public interface SettingsStore {

  Optional<String> get(String scope, String name);

  /** Writes a value, over an older one. */
  void put(String scope, String name, String value);

  /** Returns whether there was one. */
  boolean remove(String scope, String name);

  /** Returns the values of a scope by name, sorted. */
  Map<String, String> all(String scope);
}
