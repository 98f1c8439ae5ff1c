package dev.isola.spi.provider;

import java.util.List;

/**
 * Creates a provider. {@link java.util.ServiceLoader} finds factories: one line in {@code
 * META-INF/services/dev.isola.spi.provider.ProviderFactory} adds a backend. Loading a factory and
 * calling {@link #name()} must be cheap.
 */
public interface ProviderFactory {
  /** Returns the name of the provider: lower-case letters, digits and dashes. */
  String name();

  /**
   * Returns what is known about the provider before it is created. The value is constant and agrees
   * with {@link Provider#info()}.
   */
  default ProviderProfile profile() {
    return ProviderProfile.UNKNOWN;
  }

  /**
   * Returns the settings that are secret or that an additional environment variable sets. Other
   * settings need no declaration.
   */
  default List<ProviderSetting> settings() {
    return List.of();
  }

  /**
   * Returns the commands that indicate that the backend is installed. {@code isola doctor} looks
   * for them and tells which provider they belong to.
   */
  default List<String> programs() {
    return List.of();
  }

  /**
   * Creates the provider. Called once per name and config. Must not fail if the backend is missing;
   * {@link Provider#health()} reports that.
   */
  Provider create(ProviderConfig config, ProviderContext context);
}
