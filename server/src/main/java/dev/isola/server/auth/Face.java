package dev.isola.server.auth;

/** Whose words a route speaks: how somebody shows who he is, and how errors are told. */
public enum Face {
  /** Isola's own: keys as bearers, problems of RFC 9457, nothing that is not known. */
  NATIVE,

  /** E2B's control plane: a key in {@code X-API-KEY}, errors as code and message. */
  E2B,

  /** Files and facts of one sandbox, as E2B's envd has them: the sandbox's own token. */
  ENVD,

  /** Calls of one sandbox by the Connect protocol: the sandbox's own token, errors by word. */
  CONNECT;

  /** Tells whether what the route does not know is refused, and what it knows described. */
  public boolean isOurs() {
    return this == NATIVE;
  }

  /** Tells whether it is about the inside of one sandbox. */
  public boolean isEnvd() {
    return this == ENVD || this == CONNECT;
  }
}
