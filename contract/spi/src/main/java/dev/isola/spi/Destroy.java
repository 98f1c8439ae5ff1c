package dev.isola.spi;

import java.time.Duration;

/**
 * How a sandbox is destroyed.
 *
 * @param force do not spare unsaved work
 * @param timeout how long to try
 */
public record Destroy(boolean force, Duration timeout) {
  public static final Destroy NORMAL = new Destroy(false, Duration.ofSeconds(10));
  public static final Destroy FORCE = new Destroy(true, Duration.ofSeconds(10));
}
