package dev.isola.client;

import java.time.Duration;

/** Waits between attempts. */
final class RetryDelay {
  private RetryDelay() {}

  static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      throw Transport.cancelled(e);
    }
  }
}
