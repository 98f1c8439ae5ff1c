package dev.isola.spi.error;

/**
 * Tells which party has to act on a failure: the client, the operator or the maintainers of Isola.
 * The category decides how the failure is logged. Whether a call may be retried or tried with
 * another provider depends on the {@link ErrorCode}, not on the category.
 */
public enum Category {
  /** The request cannot succeed as it is; the client has to change it. */
  CALLER,
  /** A limit or quota is exhausted. The same request may succeed later, or with smaller demands. */
  RESOURCE,
  /** The backend failed or is unavailable. */
  PROVIDER,
  /** A bug in Isola. */
  BUG
}
