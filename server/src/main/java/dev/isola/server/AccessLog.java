package dev.isola.server;

/** Where requests are written down. */
public interface AccessLog {

  /**
   * A request that was answered. There is nothing in it that a caller wrote: no path, no key, no
   * body.
   *
   * @param route the template, or {@code -} when there is none
   * @param key the name of the key, or {@code -}
   */
  record Line(String requestId, String method, String route, int status, long millis, String key) {}

  void write(Line line);
}
