package dev.isola.spi.error;

/**
 * Says who has to act: the client, the operator or the maintainers of Isola. It decides how a
 * failure is logged. Whether a call may be repeated or tried at another provider is said by each
 * {@link ErrorCode} itself.
 */
public enum Category {
  /** The request cannot succeed as it is; the client has to change it. */
  CALLER,
  /**
   * A limit or a quota stands in the way; the same request may succeed later or with smaller
   * demands.
   */
  RESOURCE,
  /** The backend failed or is not there. */
  PROVIDER,
  /** Isola itself is wrong. */
  BUG
}
