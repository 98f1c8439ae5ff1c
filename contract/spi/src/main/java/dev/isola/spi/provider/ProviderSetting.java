package dev.isola.spi.provider;

import java.util.Optional;

/**
 * A setting of a provider that the configuration has to know more of than its name ({@code
 * providers.NAME.SETTING}): it is secret, or a variable of another tool means the same.
 *
 * @param name of the setting: lower-case letters, digits and underscores
 * @param secret whether the value must never be shown
 * @param variable the environment variable that sets it, too, such as one of the backend's own SDK
 */
public record ProviderSetting(String name, boolean secret, Optional<String> variable) {

  /** Returns a secret that no other variable sets. */
  public static ProviderSetting secret(String name) {
    return new ProviderSetting(name, true, Optional.empty());
  }

  /** Returns the same setting, set by a variable, too. */
  public ProviderSetting withVariable(String name) {
    return new ProviderSetting(this.name, secret, Optional.of(name));
  }
}
