package dev.isola.spi.error;

/**
 * Says whose move is next. The category alone decides whether a request is retried, whether the
 * next provider is tried, and how loudly the failure is logged.
 */
public enum Category {
  /**
   * The request cannot succeed as it is; the caller has to change it. Never retried, never falls
   * back.
   */
  CALLER,
  /**
   * A limit or a quota stands in the way; the same request may succeed later or with smaller
   * demands.
   */
  RESOURCE,
  /** The backend failed or is not there; another provider may do. */
  PROVIDER,
  /** Isola itself is wrong. */
  BUG
}
