package dev.isola.spi.capability;

import java.util.List;

/**
 * The named volumes of a provider: folders that outlive the sandboxes that mount them ({@link
 * dev.isola.spi.spec.Volume.Type#VOLUME}). This capability is the provider's, not a sandbox's:
 * {@link dev.isola.spi.provider.Provider#volumes()} returns it, and no sandbox has to be booted for
 * it.
 *
 * <p>A name is one that {@link dev.isola.spi.spec.VolumeMount#isName} accepts; any other is {@link
 * dev.isola.spi.error.InvalidRequest}.
 */
public non-sealed interface Volumes extends Capability {

  /**
   * Creates a volume. Does nothing when it exists: a sandbox that mounts a missing volume creates
   * it as well.
   */
  void create(String name);

  /** Returns the names of all volumes of this instance, sorted. */
  List<String> list();

  /**
   * Destroys a volume and everything in it; returns when nothing is left. Does nothing when there
   * is none.
   *
   * @throws dev.isola.spi.error.Conflict when the backend reports that a sandbox has it mounted
   */
  void destroy(String name);
}
