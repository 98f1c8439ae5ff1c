package dev.isola.client;

import java.time.Duration;

/** Sleeps between attempts. */
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
