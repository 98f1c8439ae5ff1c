package dev.isola.engine.api;

import java.util.Map;
import java.util.Optional;

/** Persistent settings, addressed by scope (such as a tenant or user) and name. */
public interface SettingsStore {

  Optional<String> get(String scope, String name);

  /** Sets a value, replacing any existing one. */
  void put(String scope, String name, String value);

  /** Removes a value and returns whether it existed. */
  boolean remove(String scope, String name);

  /**
   * Returns a number that increases with every change in a scope, by any server of the
   * installation, after the first call of this method for it. A server that keeps a copy calls it before
   * reading, and reads again when it differs.
   */
  long version(String scope);

  /** Returns the values of a scope, sorted by name. */
  Map<String, String> all(String scope);
}
