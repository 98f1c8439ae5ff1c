package dev.isola.engine.volume;

import java.util.Optional;

/**
 * What a helper sandbox is made like, so that files written through it are those of the sandboxes
 * that use the volume.
 *
 * @param image that it stands on; the provider's own root when empty
 * @param user that owns what is written; root when empty
 */
public record HelperProfile(Optional<String> image, Optional<String> user) {
  public static final HelperProfile DEFAULT = new HelperProfile(Optional.empty(), Optional.empty());
}
