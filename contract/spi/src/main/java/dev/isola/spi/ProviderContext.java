package dev.isola.spi;

import java.nio.file.Path;
import java.time.InstantSource;

/**
 * What the house gives every provider.
 *
 * @param instance to be borne by every resource the provider makes
 * @param dataFolder the provider's own folder, made before it is called, kept between runs
 * @param clock the time
 */
public record ProviderContext(InstanceId instance, Path dataFolder, InstantSource clock) {}
