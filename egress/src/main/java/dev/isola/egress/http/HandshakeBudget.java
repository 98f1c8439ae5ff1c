package dev.isola.egress.http;

import java.time.InstantSource;

/**
 * How many TLS handshakes of a sandbox are answered: so many at once, and then few in a second. The
 * first message of a client costs a guest process next to nothing, and its answer costs the server
 * a key and a signature.
 */
final class HandshakeBudget {
  private final InstantSource clock;
  private final int atOnce;
  private final int perSecond;
  private double left;
  private long countedAt;

  HandshakeBudget(InstantSource clock, int atOnce, int perSecond) {
    this.clock = clock;
    this.atOnce = atOnce;
    this.perSecond = perSecond;
    this.left = atOnce;
    this.countedAt = clock.millis();
  }

  /** Returns whether a handshake may be answered. */
  synchronized boolean take() {
    long now = clock.millis();
    left = Math.min(atOnce, left + Math.max(0, now - countedAt) / 1e3 * perSecond);
    countedAt = now;
    if (left < 1) {
      return false;
    }
    left--;
    return true;
  }

  /** Does not count a handshake that the client has completed, which cost it as much. */
  synchronized void giveBack() {
    left = Math.min(atOnce, left + 1);
  }
}
