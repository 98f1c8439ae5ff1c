package dev.isola.server;

/** Receives one line per completed request. */
public interface AccessLog {

  /**
   * A completed request. Contains nothing that the client sent: no path, no key, no body.
   *
   * @param route the template of the route, or {@code -} if none matched
   * @param key the name of the key, or {@code -}
   */
  record Line(String requestId, String method, String route, int status, long millis, String key) {}

  void write(Line line);
}
