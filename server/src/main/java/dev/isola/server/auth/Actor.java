package dev.isola.server.auth;

/**
 * Kinds of credentials that have no name of their own, as the logs name the actor of a request. No
 * key can have such a name.
 */
public final class Actor {
  public static final String SANDBOX_TOKEN = "(sandbox token)";
  public static final String PREVIEW_TOKEN = "(preview token)";

  /** A client without a credential, at a port that is open to everybody. */
  public static final String PUBLIC = "(public)";

  private Actor() {}
}
