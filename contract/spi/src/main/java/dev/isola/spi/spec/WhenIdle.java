package dev.isola.spi.spec;

/** What becomes of a sandbox that nobody has used for its idle time. */
public enum WhenIdle {
  /** It ends. */
  DESTROY,
  /**
   * It is frozen in memory where its provider can, and stopped otherwise; the next request wakes
   * it.
   */
  PAUSE,
  /** Its processes end and its files are kept; the next request boots it again. */
  STOP
}
