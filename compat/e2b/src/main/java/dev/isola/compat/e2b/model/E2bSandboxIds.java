package dev.isola.compat.e2b.model;

/**
 * Ids of sandboxes as E2B's clients write them. The first versions append the {@code clientID} of
 * the response that named the sandbox.
 */
public final class E2bSandboxIds {
  /** The value of {@code clientID}. */
  public static final String CLIENT = "isola";

  /** What the first versions of the clients append to an id. */
  public static final String SUFFIX = "-" + CLIENT;

  private E2bSandboxIds() {}

  /** Returns an id without the suffix. */
  public static String withoutSuffix(String id) {
    return id.endsWith(SUFFIX) ? id.substring(0, id.length() - SUFFIX.length()) : id;
  }
}
