package dev.isola.link;

import java.time.Duration;

/**
 * Timeouts of the link to an agent.
 *
 * @param connectTimeout how long a call waits for a connection, initially or after a drop
 * @param absenceTimeout how long an agent that was connected before may be absent until it counts
 *     as gone
 * @param handshakeTimeout how long the handshake may take
 * @param responseTimeout how long the agent may take for a cheap operation
 * @param longResponseTimeout how long it may take for an operation that depends on the size of a
 *     tree or a file
 * @param keepaliveTime how long the agent may be silent while a stream is open before it is pinged
 * @param keepaliveTimeout how long it may take to answer the ping
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

  public LinkTimeouts withConnectTimeout(Duration timeout) {
    return new LinkTimeouts(
        timeout,
        absenceTimeout,
        handshakeTimeout,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withAbsenceTimeout(Duration timeout) {
    return new LinkTimeouts(
        connectTimeout,
        timeout,
        handshakeTimeout,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withHandshakeTimeout(Duration timeout) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        timeout,
        responseTimeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withResponseTimeout(Duration timeout) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        handshakeTimeout,
        timeout,
        longResponseTimeout,
        keepaliveTime,
        keepaliveTimeout);
  }

  public LinkTimeouts withLongResponseTimeout(Duration timeout) {
    return new LinkTimeouts(
        connectTimeout,
        absenceTimeout,
        handshakeTimeout,
        responseTimeout,
        timeout,
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
