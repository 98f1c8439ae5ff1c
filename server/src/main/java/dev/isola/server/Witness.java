package dev.isola.server;

import java.util.Optional;

/** Is told of every request when it has been answered. It never waits long and never throws. */
public interface Witness {

  /**
   * A request that was answered.
   *
   * @param action the name of the route, or {@code -} when there is none
   * @param route its template, or {@code -}
   * @param code of the problem that was answered, if one was
   * @param key the name of the key, or {@code -}
   * @param remote the address it came from
   * @param sandbox what it was about
   */
  record Visited(
      String requestId,
      String method,
      String action,
      String route,
      int status,
      Optional<String> code,
      long nanos,
      String key,
      String remote,
      Optional<String> sandbox) {

    /** Tells whether somebody who was let in wanted to change something. */
    public boolean changes() {
      return !method.equals("GET") && !key.equals("-") && !action.equals("-");
    }
  }

  void answered(Visited visited);
}
