package dev.isola.server.auth;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** The scopes of a key. Each includes those before it. */
public enum Scope {
  /** Lists, states, events, metrics and files. */
  READ,
  /** Creating, using and destroying sandboxes. */
  USE,
  /** Managing keys, and sandboxes with access to the host. */
  ADMIN;

  public boolean allows(Scope needed) {
    return compareTo(needed) >= 0;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<Scope> of(String word) {
    return Stream.of(values()).filter(scope -> scope.word().equals(word)).findFirst();
  }

  public static List<String> words() {
    return Stream.of(values()).map(Scope::word).toList();
  }
}
