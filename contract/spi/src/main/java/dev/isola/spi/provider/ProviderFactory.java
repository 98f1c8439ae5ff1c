package dev.isola.spi.provider;

import java.util.List;

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
   * Returns the settings that are secret or that other variables set. Those that are neither need
   * not be declared.
   */
  default List<ProviderSetting> settings() {
    return List.of();
  }

  /**
   * Returns the programs that bring the provider's backend to a machine, by the names of their
   * commands. {@code doctor} looks for them and says which provider they are for.
   */
  default List<String> programs() {
    return List.of();
  }

  /**
   * Makes the provider. Called once per name and config; must not fail because the backend is
   * missing (see health).
   */
  Provider create(ProviderConfig config, ProviderContext context);
}
