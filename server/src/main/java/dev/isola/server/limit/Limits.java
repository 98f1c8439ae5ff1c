package dev.isola.server.limit;

/**
 * What callers may have of the server; 0 is no limit.
 *
 * @param perSecond requests of each key
 * @param burst how many may come at once after a pause
 * @param failures wrong keys a minute from one address
 * @param requests worked on at once, by all together
 * @param streams of each key at once
 */
public record Limits(long perSecond, long burst, long failures, long requests, long streams) {
  public static final Limits NONE = new Limits(0, 1, 0, 0, 0);
}
