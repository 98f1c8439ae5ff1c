package dev.isola.link;

import java.io.IOException;
import java.time.Duration;

/** Provides authenticated connections to one agent. */
interface ConnectionSource extends AutoCloseable {
  /**
   * The handshake with the agent, which takes a limited time. An interface, because the client that
   * performs it owns the source of its connections.
   */
  @FunctionalInterface
  interface Authentication {
    AgentConnection perform(AgentChannel channel, Duration timeout) throws IOException;
  }

  static ConnectionSource of(AgentEndpoint endpoint, Authentication authentication) {
    return switch (endpoint) {
      case AgentConnector connector -> new OpenedConnections(connector, authentication);
      case AgentAcceptor acceptor -> new AcceptedConnections(acceptor, authentication);
    };
  }

  /**
   * Returns a new connection. Called by one thread at a time.
   *
   * @throws AgentAbsentException when the agent is not there: not yet, or no longer
   */
  AgentConnection next(Duration timeout) throws IOException;

  /** Ends pending handshakes; {@link #next} fails from now on. Connections stay open. */
  @Override
  void close();
}
