package dev.isola.store;

/** The result of renewing the lease of a server. */
public enum LeaseRenewal {
  /** The lease was valid all the time. */
  RENEWED,

  /**
   * The lease had ended, so that other servers may have taken over sandboxes. It is valid again.
   */
  LAPSED,

  /** Another process has registered under the name. The lease is not renewed. */
  REPLACED
}
