package dev.isola.link;

import java.io.IOException;

/** How the server and an agent find each other: one of them listens, the other dials. */
public sealed interface AgentEndpoint extends AutoCloseable permits AgentConnector, AgentAcceptor {
  /**
   * Makes sure that an agent that hangs up does not come back until {@link #resume}. The open
   * connection stays.
   */
  default void suspend() throws IOException {}

  /** Lets the agent come back after {@link #suspend}. */
  default void resume() throws IOException {}

  /** Releases what the endpoint holds. Channels that exist already stay open. */
  @Override
  default void close() {}
}
