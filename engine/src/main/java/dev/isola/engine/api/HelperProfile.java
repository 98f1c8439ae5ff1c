package dev.isola.engine.api;

import java.util.Optional;

/**
 * The properties of a helper sandbox, chosen so that files written through it look like those of
 * the sandboxes that mount the volume.
 *
 * @param image the image; empty for the root file system of the provider
 * @param user the owner of files that are written; empty for root
 */
public record HelperProfile(Optional<String> image, Optional<String> user) {
  public static final HelperProfile DEFAULT = new HelperProfile(Optional.empty(), Optional.empty());
}
