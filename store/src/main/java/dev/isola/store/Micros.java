package dev.isola.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Converts times to the stored form: microseconds since the Unix epoch, UTC. */
final class Micros {
  /** More than a hundred thousand years; the sum of two values does not overflow. */
  static final long MAX = Long.MAX_VALUE / 4;

  private Micros() {}

  static Instant truncate(Instant time) {
    return time.truncatedTo(ChronoUnit.MICROS);
  }

  static long of(Instant time) {
    long seconds = Math.clamp(time.getEpochSecond(), -MAX / 1_000_000 + 1, MAX / 1_000_000 - 1);
    return seconds * 1_000_000 + time.getNano() / 1_000;
  }

  /** Rounds up, so that storing a timeout never shortens it. */
  static long of(Duration duration) {
    long seconds = Math.clamp(duration.getSeconds(), 0, MAX / 1_000_000 - 1);
    return seconds * 1_000_000 + (duration.getNano() + 999) / 1_000;
  }

  static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  static Duration duration(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }
}
