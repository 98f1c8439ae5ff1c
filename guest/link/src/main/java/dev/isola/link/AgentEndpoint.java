package dev.isola.link;

/** How the server and an agent find each other: one of them listens, the other dials. */
public sealed interface AgentEndpoint extends AutoCloseable permits AgentConnector, AgentAcceptor {
  /** Releases what the endpoint holds. Channels that exist already stay open. */
  @Override
  default void close() {}
}
