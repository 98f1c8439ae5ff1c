package dev.isola.link;

import java.time.Duration;

/**
 * The patience of the link.
 *
 * @param connect how long a call waits for a connection, the first one or one after a drop
 * @param absent how long an agent that was there before may be absent until it counts as gone
 * @param greeting how long the greeting may take
 * @param answer how long the agent may take for an answer that costs it little
 * @param longAnswer how long it may take for one that depends on the size of a tree or a file
 * @param silence after how long without a byte the agent is pinged while something is open
 * @param pong how long it may stay silent after that
 */
public record LinkTimeouts(
    Duration connectTimeout,
    Duration absenceTimeout,
    Duration handshakeTimeout,
    Duration responseTimeout,
    Duration longResponseTimeout,
    Duration keepaliveTime,
    Duration keepaliveTimeout) {

  public static final LinkTimeouts DEFAULT =
      new LinkTimeouts(
          Duration.ofSeconds(5),
          Duration.ofMillis(500),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofMinutes(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(10));

  public LinkTimeouts withConnectTimeout(Duration patience) {
    return new LinkTimeouts(
        patience,
        absenceTimeout,
        handshakeTimeout,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withAbsenceTimeout(Duration patience) {
    return new LinkTimeouts(
        connectTimeout,
        patience,
        handshakeTimeout,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withHandshakeTimeout(Duration patience) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        patience,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withResponseTimeout(Duration patience) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        handshakeTimeout,
        patience,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withLongResponseTimeout(Duration patience) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        handshakeTimeout,
        responseTimeout,
        patience,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withKeepalive(Duration silence, Duration pong) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        handshakeTimeout,
        responseTimeout,
        longResponseTimeout,
        silence,
        pong);
  }
}
