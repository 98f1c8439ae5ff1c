package dev.isola.link;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Connects to an agent that listens. */
final class OpenedConnections implements ConnectionSource {
  private final AgentConnector connector;
  private final Authentication authentication;
  private volatile @Nullable AgentChannel pending;
  private volatile boolean closed;

  OpenedConnections(AgentConnector connector, Authentication authentication) {
    this.connector = connector;
    this.authentication = authentication;
  }

  @Override
  public AgentConnection next(Duration timeout) throws IOException {
    AgentChannel channel = connector.open(timeout);
    pending = channel;
    try {
      if (closed) {
        channel.close(); // the sandbox ended in the meantime
      }
      return authentication.perform(channel, timeout);
    } finally {
      pending = null;
    }
  }

  @Override
  public void close() {
    closed = true;
    AgentChannel channel = pending;
    if (channel != null) {
      channel.close(); // no handshake will complete there
    }
    connector.close();
  }
}
