package dev.isola.server.limit;

/**
 * What callers may have of the server; 0 is no limit.
 *
 * @param perSecond requests of each key
 * @param burst how many may come at once after a pause
 * @param failures wrong keys a minute from one address
 * @param requests worked on at once, by all together
 * @param streams of each key at once
 * @param previews requests to ports of sandboxes at once, beside {@code requests}
 * @param previewsPerSandbox of those, to one sandbox
 */
public record RequestLimits(
    long perSecond,
    long burst,
    long failures,
    long requests,
    long streams,
    long previews,
    long previewsPerSandbox) {
  public static final RequestLimits NONE = new RequestLimits(0, 1, 0, 0, 0);

  /** No limits for previews. */
  public RequestLimits(long perSecond, long burst, long failures, long requests, long streams) {
    this(perSecond, burst, failures, requests, streams, 0, 0);
  }
}
