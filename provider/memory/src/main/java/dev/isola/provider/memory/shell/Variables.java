package dev.isola.provider.memory.shell;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The variables of one shell. */
final class Variables {
  private final Map<String, String> values = new HashMap<>();
  private final Set<String> exported = new HashSet<>();

  Variables(Map<String, String> env) {
    values.putAll(env);
    exported.addAll(env.keySet());
  }

  Variables copy() {
    Variables copy = new Variables(values);
    copy.exported.retainAll(exported);
    return copy;
  }

  String get(String name) {
    return values.getOrDefault(name, "");
  }

  boolean isSet(String name) {
    return values.containsKey(name);
  }

  void set(String name, String value) {
    values.put(name, value);
  }

  void unset(String name) {
    values.remove(name);
    exported.remove(name);
  }

  void export(String name) {
    exported.add(name);
  }

  Map<String, String> exported() {
    Map<String, String> env = new TreeMap<>();
    exported.stream().filter(values::containsKey).forEach(name -> env.put(name, get(name)));
    return env;
  }

  /** Sets {@code others} for a while; returns what to restore. */
  Map<String, Optional<String>> replace(Map<String, String> others) {
    Map<String, Optional<String>> before = new HashMap<>();
    others.forEach((name, value) -> before.put(name, Optional.ofNullable(values.put(name, value))));
    return before;
  }

  void restore(Map<String, Optional<String>> before) {
    before.forEach(
        (name, value) ->
            value.ifPresentOrElse(text -> values.put(name, text), () -> values.remove(name)));
  }
}
