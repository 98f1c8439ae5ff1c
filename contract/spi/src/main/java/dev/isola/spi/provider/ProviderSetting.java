package dev.isola.spi.provider;

import java.util.Optional;

/**
 * Declares a provider setting ({@code providers.NAME.SETTING}) that is secret or that another
 * tool's environment variable sets as well.
 *
 * @param name the name of the setting: lower-case letters, digits and underscores
 * @param secret whether the value must never be shown
 * @param variable an additional environment variable that sets it, such as one of the backend's SDK
 */
public record ProviderSetting(String name, boolean secret, Optional<String> variable) {

  /** Returns a secret setting without an additional variable. */
  public static ProviderSetting secret(String name) {
    return new ProviderSetting(name, true, Optional.empty());
  }

  /** Returns this setting with an additional environment variable. */
  public ProviderSetting withVariable(String name) {
    return new ProviderSetting(this.name, secret, Optional.of(name));
  }
}
