package dev.isola.spi;

import java.time.Duration;

/**
 * Options of {@link dev.isola.spi.provider.Provider#destroy}.
 *
 * @param force whether to destroy the sandbox even if unsaved work is lost
 * @param timeout the maximum time that the call may take
 */
public record DestroyOptions(boolean force, Duration timeout) {
  /** Docker alone may wait 12 s: it tries again after 10 s without the exit event of a kill. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  public static final DestroyOptions NORMAL = new DestroyOptions(false, TIMEOUT);
  public static final DestroyOptions FORCE = new DestroyOptions(true, TIMEOUT);
}
