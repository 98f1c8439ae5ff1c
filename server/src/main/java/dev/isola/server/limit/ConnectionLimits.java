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
  public static final int TOTAL = 10_000;
  public static final int STRANGERS = 8_000;
  public static final int PER_CLIENT = 2_500;
  public static final ConnectionLimits DEFAULT = new ConnectionLimits(TOTAL, STRANGERS, PER_CLIENT);
}
