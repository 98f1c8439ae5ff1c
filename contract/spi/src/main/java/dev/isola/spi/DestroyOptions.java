package dev.isola.spi;

import java.time.Duration;

/**
 * How a sandbox is destroyed.
 *
 * @param force do not spare unsaved work
 * @param timeout how long to try
 */
public record DestroyOptions(boolean force, Duration timeout) {
  public static final DestroyOptions NORMAL = new DestroyOptions(false, Duration.ofSeconds(10));
  public static final DestroyOptions FORCE = new DestroyOptions(true, Duration.ofSeconds(10));
}
