package dev.isola.server.auth;

/** Names in the logs of credentials that have no name of their own. No key can have such a name. */
public final class Actor {
  public static final String SANDBOX_TOKEN = "(sandbox token)";
  public static final String PREVIEW_TOKEN = "(preview token)";

  /** A client without a credential, at a public port. */
  public static final String PUBLIC = "(public)";

  /** A person who comes from an OpenID Connect provider and has no key yet. */
  public static final String OIDC = "(openid connect)";

  /** A client whose credential is invalid. */
  public static final String INVALID = "(invalid credential)";

  /** Another server of the installation. */
  public static final String PEER = "(server)";

  private Actor() {}
}
