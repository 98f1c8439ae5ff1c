package dev.isola.link;

import java.io.IOException;
import java.time.Duration;

/**
 * Opens a channel to one agent that listens. Called by one thread at a time, whenever there is no
 * live connection.
 */
@FunctionalInterface
public non-sealed interface AgentConnector extends AgentEndpoint {
  /**
   * Opens a channel.
   *
   * @param timeout how long to try at most
   * @throws AgentAbsentException when the agent does not listen: not yet, or no longer
   * @throws IOException when the cause is unknown, or on any other failure
   */
  AgentChannel open(Duration timeout) throws IOException;
}
