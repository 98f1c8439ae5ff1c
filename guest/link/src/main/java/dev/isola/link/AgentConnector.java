package dev.isola.link;

import java.io.IOException;
import java.time.Duration;

/**
 * Opens a channel to one agent. Called whenever there is no live connection, by one thread at a
 * time.
 */
@FunctionalInterface
public interface AgentConnector {
  /**
   * Opens a channel.
   *
   * @param timeout how long to try at most
   * @throws AgentAbsentException when nobody listens: the agent is not up yet, or gone
   * @throws IOException when it cannot be told, or on a failure of another kind
   */
  AgentChannel open(Duration timeout) throws IOException;
}
