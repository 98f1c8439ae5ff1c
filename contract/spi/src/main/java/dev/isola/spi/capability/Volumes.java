package dev.isola.spi.capability;

import java.util.List;

/**
 * The named volumes of a provider: folders that outlive the sandboxes that mount them ({@link
 * dev.isola.spi.spec.VolumeMount.Type#VOLUME}). This capability belongs to the provider, not to a
 * sandbox: {@link dev.isola.spi.provider.Provider#volumes()} returns it, and no sandbox needs to
 * run.
 *
 * <p>Every method throws {@link dev.isola.spi.error.InvalidRequest} for a name that {@link
 * dev.isola.spi.spec.VolumeMount#isValidName} rejects.
 */
public non-sealed interface Volumes extends Capability {

  /**
   * Creates a volume. Does nothing if it exists. A sandbox that mounts a missing volume creates it
   * as well.
   */
  void create(String name);

  /** Returns the names of all volumes of this instance, sorted. */
  List<String> list();

  /**
   * Destroys a volume and its content; returns when nothing is left. Does nothing if the volume
   * does not exist.
   *
   * @throws dev.isola.spi.error.Conflict if the backend reports that a sandbox has it mounted
   */
  void destroy(String name);
}
