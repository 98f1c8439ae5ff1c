package dev.isola.document.request;

/** Which provider the client prefers. */
public sealed interface ProviderPreference {
  /** The best there is. */
  record Auto() implements ProviderPreference {}

  /** This one and no other. */
  record Named(String provider) implements ProviderPreference {}

  ProviderPreference AUTO = new Auto();

  /** Reads a name; none, or {@code auto}, is auto. */
  static ProviderPreference of(String name) {
    return name.isEmpty() || name.equals("auto") ? AUTO : new Named(name);
  }
}
