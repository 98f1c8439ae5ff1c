package dev.isola.document.request;

/** The provider that the client asks for. */
public sealed interface ProviderPreference {
  /** The best available provider. */
  record Auto() implements ProviderPreference {}

  /** This provider only. */
  record Named(String provider) implements ProviderPreference {}

  ProviderPreference AUTO = new Auto();

  /** Parses a provider name; an empty name and {@code auto} mean {@link #AUTO}. */
  static ProviderPreference of(String name) {
    return name.isEmpty() || name.equals("auto") ? AUTO : new Named(name);
  }
}
