package dev.isola.spi;

import java.time.Duration;

/**
 * Options of {@link dev.isola.spi.provider.Provider#destroy}.
 *
 * @param force whether to destroy the sandbox even if unsaved work is lost
 * @param timeout the maximum time that the call may take
 */
public record DestroyOptions(boolean force, Duration timeout) {
  public static final DestroyOptions NORMAL = new DestroyOptions(false, Duration.ofSeconds(10));
  public static final DestroyOptions FORCE = new DestroyOptions(true, Duration.ofSeconds(10));
}
