package dev.isola.compat.backend;

import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * The fork points that peers hold. They are in memory only: a peer of a server that has restarted
 * creates another one. One that is not used for ten minutes is removed by the next request that
 * concerns fork points.
 */
final class ForkPoints {
  private static final int MAX = 64;
  private static final Duration UNUSED = Duration.ofMinutes(10);
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * A fork point.
   *
   * @param provider the only provider that can create sandboxes from it
   */
  record Held(ForkPoint point, String provider, long usedAtNanos) {
    Held used() {
      return new Held(point, provider, System.nanoTime());
    }
  }

  private final Map<String, Held> held = new ConcurrentHashMap<>();
  private final Semaphore slots = new Semaphore(MAX);

  /** Reserves a place; the caller then calls {@link #add} or {@link #release}. */
  void reserve() {
    removeUnused();
    if (!slots.tryAcquire()) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "this server holds " + MAX + " fork points already",
              "remove those that are not needed, or try again in ten minutes")
          .exception();
    }
  }

  void release() {
    slots.release();
  }

  /** Returns the id of a fork point. */
  String add(ForkPoint point, String provider) {
    String id = randomId();
    held.put(id, new Held(point, provider, System.nanoTime()));
    return id;
  }

  static String randomId() {
    byte[] random = new byte[16];
    RANDOM.nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  Held require(String id) {
    removeUnused();
    return Optional.ofNullable(held.computeIfPresent(id, (_, one) -> one.used()))
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.SNAPSHOT_NOT_FOUND,
                        "the fork point does not exist, or was not used for ten minutes",
                        "create another one")
                    .exception());
  }

  void remove(String id) {
    Held one = held.remove(id);
    if (one != null) {
      slots.release();
      one.point().close();
    }
  }

  private void removeUnused() {
    long limit = System.nanoTime() - UNUSED.toNanos();
    held.forEach(
        (id, one) -> {
          if (one.usedAtNanos() - limit < 0) {
            remove(id);
          }
        });
  }
}
