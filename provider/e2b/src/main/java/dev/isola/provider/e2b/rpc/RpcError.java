package dev.isola.provider.e2b.rpc;

/** An error response of envd: a code of the Connect protocol and a message. */
public final class RpcError extends Exception {
  private static final long serialVersionUID = 1L;

  private final String code;

  RpcError(String code, String message) {
    super(message);
    this.code = code;
  }

  /** Returns a code such as {@code not_found}. */
  public String code() {
    return code;
  }

  /** Returns the message. */
  public String detail() {
    return String.valueOf(getMessage());
  }
}
