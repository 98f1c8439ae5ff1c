package dev.isola.engine.secret;

/** The kinds of values that the ledger stores encrypted. Each is a scope of its settings. */
public enum SealedScope {
  /** The secret variables of a sandbox, by its id. */
  SECRET_ENV("secret-env"),
  /** Named secrets, by name. */
  SECRET("secret"),
  /** The private key of the certificate authority of a sandbox, by its id. */
  SANDBOX_AUTHORITY("sandbox-authority"),
  /** What the servers of an installation share, such as the keys of providers. */
  INSTALLATION("installation-key");

  private final String scope;

  SealedScope(String scope) {
    this.scope = scope;
  }

  /** Returns the scope in the settings of the ledger. */
  String scope() {
    return scope;
  }

  /**
   * Returns what a value is bound to. A value that is moved to another name or scope cannot be
   * decrypted.
   */
  String context(String name) {
    return scope + "/" + name;
  }
}
