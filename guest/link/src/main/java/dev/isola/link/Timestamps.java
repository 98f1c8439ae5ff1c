package dev.isola.link;

import java.time.Instant;

/** Times as the wire has them: nanoseconds since 1970, signed. */
final class Timestamps {
  private static final long SECOND = 1_000_000_000L;

  private Timestamps() {}

  static Instant instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, SECOND), Math.floorMod(nanos, SECOND));
  }
}
