package dev.isola.link;

/** What a connection needs of its streams: those of callers here, and those of peers. */
sealed interface ConnectionStream permits LinkStream, ForwardedStream {
  AgentOperation operation();

  /**
   * Accepts a frame. Called by the reading thread.
   *
   * @throws ProtocolViolation when it is not allowed in the current state
   */
  void accept(Frame frame);

  /** Returns whether the operation would fail or be repeated if the connection ended now. */
  boolean needsConnection();

  /** Called once the connection is closed; no frame follows. */
  void connectionClosed(CloseReason reason);

  /** Waits until no content is being sent. Called when the agent is about to hang up. */
  void awaitSent();

  /** Cancels a stream that has lingered since {@code nanoTime} or longer. */
  void cancelLingering(long nanoTime);

  /**
   * Returns true when the stream was cancelled at {@code nanoTime} or earlier and has not ended.
   */
  boolean cancelledBefore(long nanoTime);
}
