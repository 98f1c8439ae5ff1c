package dev.isola.server.limit;

/**
 * Limits on requests; 0 means no limit.
 *
 * @param perSecond requests per second and key
 * @param burst requests that a key may send at once after a pause
 * @param failures failed authentications per minute and address
 * @param requests concurrent requests of all clients
 * @param streams concurrent streams per key
 * @param previews concurrent requests to ports of sandboxes, separate from {@code requests}
 * @param previewsPerSandbox concurrent requests to the ports of one sandbox
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

  /** Without limits on previews. */
  public RequestLimits(long perSecond, long burst, long failures, long requests, long streams) {
    this(perSecond, burst, failures, requests, streams, 0, 0);
  }
}
