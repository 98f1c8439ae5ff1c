package dev.isola.engine.api;

import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Optional;

/**
 * One provider of this installation: a type of provider with settings, data, health and metrics of
 * its own. Each type has an instance of the same name; the configuration adds others.
 *
 * @param name what requests, answers and records call it
 * @param type the name of the provider that it is an instance of
 * @param region a label of the operator that requests can ask for
 * @param profile what the type declares of itself
 */
public record ProviderInstance(
    String name, String type, Optional<String> region, ProviderProfile profile) {

  /** Returns the instance that a type has without any configuration. */
  public static ProviderInstance ofType(String type, ProviderProfile profile) {
    return new ProviderInstance(type, type, Optional.empty(), profile);
  }

  /** Returns the facts that decide about it, as far as they are known. */
  public ProviderProfile effectiveProfile(Optional<ProviderInfo> info) {
    return info.map(known -> known.profile(profile)).orElse(profile);
  }
}
