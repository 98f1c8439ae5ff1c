package dev.isola.link;

import org.jspecify.annotations.Nullable;

/**
 * A stream that a peer uses. Frames are passed on unchanged except for the number of the stream;
 * credit is counted by its two ends, the peer and the agent.
 */
final class ForwardedStream implements ConnectionStream {
  private final PeerSession session;
  private final AgentConnection connection;
  private final int number;
  private final int peerNumber;
  private final AgentOperation operation;
  private volatile boolean responded;
  private volatile @Nullable Long cancelledAtNanos;

  /**
   * @param number on the connection to the agent
   * @param peerNumber on the channel of the peer
   */
  ForwardedStream(
      PeerSession session,
      AgentConnection connection,
      int number,
      int peerNumber,
      AgentOperation operation) {
    this.session = session;
    this.connection = connection;
    this.number = number;
    this.peerNumber = peerNumber;
    this.operation = operation;
  }

  AgentConnection connection() {
    return connection;
  }

  int number() {
    return number;
  }

  @Override
  public AgentOperation operation() {
    return operation;
  }

  @Override
  public void accept(Frame frame) {
    if (!operation.allowsReply(frame.type())) {
      throw new ProtocolViolation("a frame of type " + frame.type() + " in reply to " + operation);
    }
    responded = true;
    if (frame.isTerminal()) {
      session.ended(peerNumber);
    }
    if (cancelledAtNanos == null) {
      session.toPeer(frame.encode(peerNumber));
    }
    frame.release();
  }

  @Override
  public boolean needsConnection() {
    return cancelledAtNanos == null && !(operation.isReopened() && responded);
  }

  @Override
  public void connectionClosed(CloseReason reason) {
    session.agentLost(reason);
  }

  @Override
  public void awaitSent() {
    session.awaitForwarded();
  }

  /** Cancels the stream, because the peer is gone. Commands continue. */
  void cancel() {
    cancelledAtNanos = System.nanoTime();
    connection.sendControl(Wire.frame(Wire.CANCEL, number));
  }

  @Override
  public void cancelLingering(long nanoTime) {
    // The peer does it.
  }

  @Override
  public boolean cancelledBefore(long nanoTime) {
    Long cancelled = cancelledAtNanos;
    return cancelled != null && cancelled - nanoTime <= 0;
  }
}
