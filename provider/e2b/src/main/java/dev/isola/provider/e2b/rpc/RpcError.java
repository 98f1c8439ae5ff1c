package dev.isola.provider.e2b.rpc;

/** What envd says instead of an answer: a word of the Connect protocol, and a sentence. */
public final class RpcError extends Exception {
  private static final long serialVersionUID = 1L;

  private final String code;

  RpcError(String code, String message) {
    super(message);
    this.code = code;
  }

  /** Returns a word such as {@code not_found}. */
  public String code() {
    return code;
  }

  /** Returns what was said. */
  public String detail() {
    return String.valueOf(getMessage());
  }
}
