package dev.isola.engine.api;

import dev.isola.spi.Hosting;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.ProviderProfile;
import java.util.Optional;

/**
 * One provider of this installation: a provider type with its own settings, data, health and
 * metrics. Each type has an instance of the same name; the configuration can add others.
 *
 * @param name the name in requests, responses and records
 * @param type the name of the provider type
 * @param region a label set by the operator that requests can select by
 * @param own whether its sandboxes run on another machine of the operator, which serves requests
 *     like this one
 * @param profile what the type declares about itself
 */
public record ProviderInstance(
    String name, String type, Optional<String> region, boolean own, ProviderProfile profile) {

  /** Returns the instance that every type has by default. */
  public static ProviderInstance ofType(String type, ProviderProfile profile) {
    return new ProviderInstance(type, type, Optional.empty(), false, profile);
  }

  /** Returns the profile that selection uses: a machine of the operator ranks like this one. */
  public ProviderProfile selectionProfile(Optional<ProviderInfo> info) {
    ProviderProfile effective = effectiveProfile(info);
    return own ? effective.withHosting(Hosting.LOCAL) : effective;
  }

  /** Returns the values that the provider reports, and the declared ones where it reports none. */
  public ProviderProfile effectiveProfile(Optional<ProviderInfo> info) {
    return info.map(known -> known.profile(profile)).orElse(profile);
  }
}
