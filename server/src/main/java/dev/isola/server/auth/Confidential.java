package dev.isola.server.auth;

/**
 * A value that an answer carries only for a credential that could use it. Routes put it into the
 * answer like any other value; {@link Disclosure} decides whether it is sent.
 */
public final class Confidential {
  /** What a client that may not see the value gets instead of it. */
  public static final String MASK = "***";

  /** What becomes of the value, and whether disclosing it is an event of its own. */
  enum Kind {
    /** Grants access: left out for a lesser credential, recorded in the audit log when sent. */
    TOKEN,
    /** Content that may hold a secret: masked for a lesser credential. */
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
   * Returns something that grants access, such as a token or a link with one in it.
   *
   * @param needed the scope that a key needs to do what the token allows
   */
  public static Confidential token(String value, Scope needed) {
    return new Confidential(value, needed, Kind.TOKEN);
  }

  /**
   * Returns content that clients fill with secrets, such as the value of an environment variable.
   *
   * @param value text, or a tree of maps and lists
   */
  public static Confidential content(Object value, Scope needed) {
    return new Confidential(value, needed, Kind.CONTENT);
  }

  /** Returns the same for credentials with at least this scope. */
  public Confidential needing(Scope scope) {
    return new Confidential(value, scope, kind);
  }

  /** Returns the text of a token. Calls to this are the places to look at in a review. */
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
