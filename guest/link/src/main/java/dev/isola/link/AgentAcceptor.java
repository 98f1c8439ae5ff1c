package dev.isola.link;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/** Accepts the connections of one agent that dials. */
public non-sealed interface AgentAcceptor extends AgentEndpoint {
  /**
   * Starts to accept connections. A guest process may dial as well, so a channel counts as that of
   * the agent only after the handshake.
   *
   * @param accepted called for each connection; must not block
   */
  void listen(Consumer<AgentChannel> accepted);

  /**
   * Listens anew if another server has taken over, so that the agent comes back. Called when a call
   * needs a connection and there is none.
   */
  void reclaim() throws IOException;

  /** Returns where the agent hands connections over to; empty if it cannot. */
  default Optional<HandoverSocket> handovers() {
    return Optional.empty();
  }

  /** Returns whether the agent's process exists, so that it is worth waiting for. */
  boolean isAgentAlive();
}
