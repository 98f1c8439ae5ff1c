package dev.isola.spi.provider;

/**
 * Makes a provider. Found by {@link java.util.ServiceLoader}: one line in {@code
 * META-INF/services/dev.isola.spi.provider.ProviderFactory} adds a backend. Must be cheap to load
 * and to ask for its name.
 */
public interface ProviderFactory {
  /** Returns the provider's name: lower-case letters, digits and dashes. */
  String name();

  /**
   * Returns what is known of the provider before it is made. Constant, and must agree with info.
   */
  default ProviderProfile profile() {
    return ProviderProfile.UNKNOWN;
  }

  /**
   * Makes the provider. Called once per name and config; must not fail because the backend is
   * missing (see health).
   */
  Provider create(ProviderConfig config, ProviderContext context);
}
