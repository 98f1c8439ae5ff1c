package dev.isola.server.auth;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** What a key allows; each allows what those before it do. */
public enum Scope {
  /** Looking: lists, states, events, metrics, files. */
  READ,
  /** Making, using and destroying sandboxes. */
  USE,
  /** Keys, and sandboxes with folders of the host in them. */
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
