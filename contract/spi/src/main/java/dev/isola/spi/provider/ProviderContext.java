package dev.isola.spi.provider;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * Context passed to a provider.
 *
 * @param instance the installation id that labels every resource the provider creates
 * @param dataFolder the provider's own folder; exists before the provider is created and is kept
 *     between runs
 * @param sharedFolder the folder that all providers of the installation share, for images and
 *     volumes
 * @param clock the source of time
 */
public record ProviderContext(
    InstanceId instance, Path dataFolder, Path sharedFolder, InstantSource clock) {

  /**
   * Creates the context of a provider that shares nothing: its images and volumes are in its own
   * data folder.
   */
  public ProviderContext(InstanceId instance, Path dataFolder, InstantSource clock) {
    this(instance, dataFolder, dataFolder, clock);
  }
}
