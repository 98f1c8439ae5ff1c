package dev.isola.store;

import java.util.Map;
import java.util.Optional;

/** Small durable values, by scope (such as a tenant or a user) and name. */
public interface SettingEntries {

  Optional<String> get(String scope, String name);

  /** Sets a value, replacing an earlier one. */
  void put(String scope, String name, String value);

  /** Sets a value unless there is one, and returns the stored one. */
  String putIfAbsent(String scope, String name, String value);

  /** Returns whether the value existed. */
  boolean remove(String scope, String name);

  /**
   * Returns a number that increases with every change in a scope after the first call of this
   * method for it. A server that keeps a copy calls it before reading, and reads again when it differs.
   */
  long version(String scope);

  /** Returns the values of a scope, sorted by name. */
  Map<String, String> all(String scope);
}
