package dev.isola.server.limit;

/**
 * Limits on connections.
 *
 * @param total connections of all clients
 * @param strangers those of them on which no request had a valid credential; the rest is room for
 *     clients that have one
 * @param perClient connections of one client, apart from trusted proxies; 0 for no limit
 */
public record ConnectionLimits(int total, int strangers, int perClient) {
  private static final int TOTAL = 10_000;
  private static final int PER_CLIENT = 2_500;
  public static final ConnectionLimits DEFAULT = of(Long.MAX_VALUE, PER_CLIENT);

  /**
   * Returns the limits of a process: at most half of its descriptors. A connection for which there
   * is no descriptor would wait, also that of an administrator.
   *
   * @param descriptors how many files the process may open
   */
  public static ConnectionLimits of(long descriptors, int perClient) {
    int total = (int) Math.min(TOTAL, descriptors / 2);
    return new ConnectionLimits(total, total / 5 * 4, perClient);
  }
}
