package dev.isola.server.auth;

/**
 * A value that is disclosed only to sufficiently privileged credentials. Routes put it into the
 * response like any other value; {@link Disclosure} decides whether it is sent.
 */
public final class Confidential {
  /** Sent in place of a value that is not disclosed. */
  public static final String MASK = "***";

  /** How a value is withheld, and whether disclosing it is audited. */
  enum Kind {
    /** Grants access. Omitted for insufficient credentials and audited when disclosed. */
    TOKEN,
    /** May contain a secret. Masked for insufficient credentials. */
    CONTENT
  }

  private final Object value;
  private final Scope needed;
  private final Kind kind;

  private Confidential(Object value, Scope needed, Kind kind) {
    this.value = value;
    this.needed = needed;
    this.kind = kind;
  }

  /**
   * Returns a value that grants access, such as a token or a link that contains one.
   *
   * @param needed the scope that a key needs for the same access
   */
  public static Confidential token(String value, Scope needed) {
    return new Confidential(value, needed, Kind.TOKEN);
  }

  /**
   * Returns a value that may contain a secret, such as an environment variable.
   *
   * @param value a string, or a tree of maps and lists
   */
  public static Confidential content(Object value, Scope needed) {
    return new Confidential(value, needed, Kind.CONTENT);
  }

  /** Returns a copy that requires at least this scope. */
  public Confidential requiring(Scope scope) {
    return new Confidential(value, scope, kind);
  }

  /** Returns the plain text of a token. Review every call of this method. */
  public String reveal() {
    return String.valueOf(value);
  }

  Object value() {
    return value;
  }

  Scope needed() {
    return needed;
  }

  Kind kind() {
    return kind;
  }

  @Override
  public String toString() {
    return MASK;
  }
}
