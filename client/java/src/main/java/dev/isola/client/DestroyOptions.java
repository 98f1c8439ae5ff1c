package dev.isola.client;

import java.time.Duration;
import java.util.Optional;

/**
 * Options of {@link Sandbox#destroy(DestroyOptions)}.
 *
 * @param force destroy it even if it contains unsaved work
 * @param timeout the longest time to wait; the server then continues to destroy the sandbox. If
 *     empty, the server decides
 */
public record DestroyOptions(boolean force, Optional<Duration> timeout) {
  public static final DestroyOptions DEFAULT = new DestroyOptions(false, Optional.empty());

  public DestroyOptions forced() {
    return new DestroyOptions(true, timeout);
  }

  public DestroyOptions withTimeout(Duration time) {
    return new DestroyOptions(force, Optional.of(time));
  }
}
