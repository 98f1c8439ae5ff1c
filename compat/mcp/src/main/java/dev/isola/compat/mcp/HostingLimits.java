package dev.isola.compat.mcp;

import java.time.Duration;

/**
 * Limits of hosted servers.
 *
 * @param startTimeout how long a server may take from its start to its answer to {@code initialize}
 * @param requestTimeout how long a server may take to answer a request
 */
public record HostingLimits(Duration startTimeout, Duration requestTimeout) {
  public static final HostingLimits DEFAULT =
      new HostingLimits(Duration.ofMinutes(2), Duration.ofMinutes(10));

  /** The longest message of a hosted server. */
  static final int MAX_MESSAGE = 4 << 20;

  /** The longest answer to {@code initialize}, which is stored. */
  static final int MAX_HANDSHAKE = 64 << 10;

  /** Requests of all clients that one server answers at the same time. */
  static final int MAX_REQUESTS = 64;

  /** Streams of clients that wait for messages of one server. */
  static final int MAX_STREAMS = 16;

  /** Resources of one server that clients have subscribed to. */
  static final int MAX_SUBSCRIPTIONS = 256;

  /** Messages that wait for one client; further ones are dropped. */
  static final int MAX_QUEUED_MESSAGES = 64;

  /** Bytes that wait for one client; further messages are dropped. */
  static final int MAX_QUEUED_BYTES = 256 << 10;

  /** Bytes of requests that wait until the server reads its standard input. */
  static final int MAX_INPUT = 4 << 20;

  /** Bytes of messages of all servers, beyond the small ones, that the process holds. */
  static final long MAX_HELD = 64 << 20;

  /** Servers that are not in use whose state is remembered. */
  static final int MAX_REMEMBERED = 256;

  /** Messages and bytes that are read from one server in a second; more have to wait. */
  static final int MESSAGES_PER_SECOND = 1000;

  static final int BYTES_PER_SECOND = 16 << 20;

  /** How long the host stays attached to a server without clients. */
  static final Duration IDLE = Duration.ofSeconds(30);

  static final Duration FIRST_BACKOFF = Duration.ofSeconds(1);
  static final Duration MAX_BACKOFF = Duration.ofMinutes(1);
}
