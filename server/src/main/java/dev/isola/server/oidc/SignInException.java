package dev.isola.server.oidc;

/** Thrown when a sign-in fails. The message is for the log: it contains neither code nor token. */
public final class SignInException extends Exception {
  private static final long serialVersionUID = 1;

  private final SignInProblem problem;

  SignInException(SignInProblem problem, String detail) {
    super(detail);
    this.problem = problem;
  }

  SignInException(SignInProblem problem, String detail, Throwable cause) {
    super(detail, cause);
    this.problem = problem;
  }

  public SignInProblem problem() {
    return problem;
  }

  static SignInException invalidToken(String detail) {
    return new SignInException(SignInProblem.INVALID_TOKEN, "the ID token is invalid: " + detail);
  }
}
