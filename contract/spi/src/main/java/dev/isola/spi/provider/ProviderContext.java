package dev.isola.spi.provider;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * What the house gives every provider.
 *
 * @param instance to be borne by every resource the provider makes
 * @param dataFolder the provider's own folder, made before it is called, kept between runs
 * @param shared the folder of what all providers of an installation share: images, volumes
 * @param clock the time
 */
public record ProviderContext(
    InstanceId instance, Path dataFolder, Path sharedFolder, InstantSource clock) {

  /** A provider that shares nothing: images and volumes lie in its own folder. */
  public ProviderContext(InstanceId instance, Path dataFolder, InstantSource clock) {
    this(instance, dataFolder, dataFolder, clock);
  }
}
