package dev.isola.document.request;

/** What the engine does with a sandbox that was idle for too long, or whose ttl is over. */
public enum ExpiryAction {
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
