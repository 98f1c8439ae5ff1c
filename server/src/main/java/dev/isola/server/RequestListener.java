package dev.isola.server;

import java.util.Optional;

/** Is told of every request when it has been answered. It never waits long and never throws. */
public interface RequestListener {

  /**
   * A request that was answered.
   *
   * @param action the name of the route, or {@code -} when there is none
   * @param route its template, or {@code -}
   * @param code of the problem that was answered, if one was
   * @param key the name of the key or the kind of token, or {@code -}
   * @param remote the address it came from
   * @param sandbox what it was about
   * @param token whether the answer carries a token
   */
  record CompletedRequest(
      String requestId,
      String method,
      String action,
      String route,
      int status,
      Optional<String> code,
      long nanos,
      String key,
      String remote,
      Optional<String> sandbox,
      boolean disclosesToken) {

    /** Tells whether a client that was let in wanted to change something, or was given a token. */
    public boolean isAuditable() {
      return (!method.equals("GET") || disclosesToken) && !key.equals("-") && !action.equals("-");
    }
  }

  void requestCompleted(CompletedRequest visited);
}
