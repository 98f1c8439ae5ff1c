package dev.isola.engine.selection;

import dev.isola.engine.api.ProviderNames;

/** Which provider the caller wants. */
public sealed interface Wish {
  /** The best there is. */
  record Auto() implements Wish {}

  /** This one and no other. */
  record Named(String provider) implements Wish {}

  Wish AUTO = new Auto();

  /** Reads a name; none, or {@code auto}, is auto. */
  static Wish of(String name) {
    return name.isEmpty() || name.equals(ProviderNames.AUTO)
        ? AUTO
        : new Named(ProviderNames.plain(name));
  }
}
