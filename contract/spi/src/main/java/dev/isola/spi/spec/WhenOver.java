package dev.isola.spi.spec;

/** What becomes of a sandbox that nobody has used for its idle time, or whose whole time is up. */
public enum WhenOver {
  /** It ends. */
  DESTROY,
  /** It is frozen in memory where its provider can, and stopped otherwise. */
  PAUSE,
  /** Its processes end and its files are kept; it is booted again. */
  STOP,
  /**
   * A snapshot of its workspace is taken and it ends, which leaves nothing at its provider; it is
   * made from that once more, with the same id.
   */
  SNAPSHOT
}
