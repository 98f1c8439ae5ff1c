package dev.isola.client;

import java.time.Duration;

/** Waits between attempts. */
final class Pause {
  private Pause() {}

  static void of(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw Transport.cancelled(e);
    }
  }
}
