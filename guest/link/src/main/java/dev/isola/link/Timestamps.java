package dev.isola.link;

import java.time.Instant;

/** Converts wire timestamps: signed nanoseconds since 1970. */
final class Timestamps {
  private static final long SECOND = 1_000_000_000L;

  private Timestamps() {}

  static Instant instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, SECOND), Math.floorMod(nanos, SECOND));
  }

  /**
   * Returns the nanoseconds.
   *
   * @throws ArithmeticException for an instant after the year 2262
   */
  static long nanos(Instant instant) {
    return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), SECOND), instant.getNano());
  }
}
