package dev.isola.link;

import dev.isola.spi.Secret;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A channel on which a peer speaks the guest protocol. Its streams are forwarded to the connection
 * of this server, which stays in control of the agent. The peer is not trusted: it cannot use
 * operations that belong to the owner of the sandbox, and one that does not read loses its channel.
 */
final class PeerSession implements PortDialing.Connection {
  /**
   * Operations that end, hold or rename the sandbox, change when it ends, or take its connections.
   */
  private static final Set<AgentOperation> REFUSED =
      EnumSet.of(
          AgentOperation.DEADLINE,
          AgentOperation.SHUTDOWN,
          AgentOperation.HOLD,
          AgentOperation.RELEASE,
          AgentOperation.IDENTIFY,
          AgentOperation.RELAY,
          AgentOperation.EGRESS,
          AgentOperation.INCOMING);

  private static final Map<Integer, AgentOperation> OPERATIONS =
      Stream.of(AgentOperation.values())
          .collect(Collectors.toMap(AgentOperation::value, operation -> operation));

  private static final int MAX_STREAMS = 4096;
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration STALL = Duration.ofSeconds(30);

  private final AgentClient client;
  private final PeerHandshake handshake;
  private final PeerFrames frames = new PeerFrames(this::accept);
  private final PeerOutput output = new PeerOutput(STALL);
  private final Map<Integer, ForwardedStream> streams = new ConcurrentHashMap<>();
  private final ReentrantLock forwarding = new ReentrantLock();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean authenticated;
  private volatile boolean gone;

  private PeerSession(AgentClient client, Secret secret) {
    this.client = client;
    this.handshake = new PeerHandshake(secret);
  }

  static PeerSession open(AgentClient client, Secret secret) {
    AgentConnection _ = client.connection(); // fails here rather than in the handshake
    PeerSession session = new PeerSession(client, secret);
    session.toPeer(session.handshake.challenge());
    CompletableFuture.delayedExecutor(HANDSHAKE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
        .execute(session::closeUnlessAuthenticated);
    return session;
  }

  private void closeUnlessAuthenticated() {
    if (!authenticated) {
      close();
    }
  }

  // Called by the thread that carries the bytes of the peer.

  @Override
  public int write(ByteBuffer source) throws IOException {
    int count = source.remaining();
    if (gone) {
      source.position(source.limit()); // the peer has yet to read that the sandbox is gone
      return count;
    }
    if (closed.get()) {
      throw new ClosedChannelException();
    }
    try {
      frames.add(source);
      return count;
    } catch (ProtocolViolation e) {
      close();
      throw new IOException("the peer violated the protocol: " + e.getMessage(), e);
    } catch (Gone e) {
      bye(e.fault().problem());
      return count;
    } catch (SandboxException e) {
      close();
      throw new IOException(e.fault().problem(), e);
    }
  }

  private void accept(Frame frame) {
    if (!authenticated) {
      if (frame.type() != Wire.HELLO || frame.stream() != 0) {
        throw new ProtocolViolation("the peer did not start with a HELLO");
      }
      toPeer(handshake.welcome(frame.payload(), client.connection().welcome()));
      authenticated = true;
      return;
    }
    switch (frame.type()) {
      case Wire.PING -> pong(frame);
      case Wire.PONG -> {}
      case Wire.REQUEST -> request(frame);
      case Wire.DATA, Wire.EOF, Wire.CREDIT, Wire.CANCEL -> {
        ForwardedStream stream = streams.get(frame.stream());
        if (stream != null) { // one that has ended may have crossed with this frame
          toAgent(stream, frame);
        }
      }
      default -> throw new ProtocolViolation("a frame of type " + frame.type());
    }
  }

  private void pong(Frame ping) {
    if (ping.payload().length > Wire.PING_MAX) {
      throw new ProtocolViolation("a PING of " + ping.payload().length + " bytes");
    }
    toPeer(Wire.frame(Wire.PONG, 0, ping.payload()));
  }

  private void request(Frame frame) {
    int peerNumber = frame.stream();
    AgentOperation operation =
        frame.payload().length == 0 ? null : OPERATIONS.get(frame.payload()[0] & 0xff);
    if (peerNumber <= 0 || streams.containsKey(peerNumber) || streams.size() >= MAX_STREAMS) {
      throw new ProtocolViolation("a REQUEST on a stream that it cannot open");
    }
    if (operation == null || REFUSED.contains(operation)) {
      toPeer(
          new WireFieldsBuilder()
              .add(FieldTag.CODE, Wire.E_UNSUPPORTED)
              .add(FieldTag.MESSAGE, "a peer cannot use this operation")
              .frame(Wire.ERROR, peerNumber));
      return;
    }
    AgentConnection connection = client.connection();
    ForwardedStream stream =
        connection.forward(
            number -> {
              ForwardedStream created =
                  new ForwardedStream(this, connection, number, peerNumber, operation);
              streams.put(peerNumber, created);
              return created;
            });
    toAgent(stream, frame);
    if (closed.get()) {
      cancelAll(); // closed in between, and this stream was missed
    }
  }

  /** Sends a frame unless the agent is about to hang up; the peer then connects again. */
  private void toAgent(ForwardedStream stream, Frame frame) {
    forwarding.lock();
    try {
      boolean sent =
          !stream.connection().isHeld()
              && stream.connection().sendContent(ByteBuffer.wrap(frame.encode(stream.number())));
      if (!sent) {
        close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
    } finally {
      forwarding.unlock();
    }
  }

  /** Waits until no frame is being sent to the agent. */
  void awaitForwarded() {
    forwarding.lock();
    try {
      assert forwarding.isHeldByCurrentThread(); // so nothing is being sent
    } finally {
      forwarding.unlock();
    }
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    try {
      return output.read(target);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for the agent");
    }
  }

  // Called by the thread that reads from the agent.

  /** Sends a frame to the peer, waiting while the peer does not read. */
  void toPeer(byte[] frame) {
    try {
      if (!output.put(frame)) {
        close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
    }
  }

  void ended(int peerNumber) {
    streams.remove(peerNumber);
  }

  /** The streams of a lost connection cannot continue; the peer connects again. */
  void agentLost(CloseReason reason) {
    if (reason.kind() == CloseReason.Kind.GONE) {
      bye(reason.message());
    } else {
      close();
    }
  }

  /** Tells the peer that the sandbox is gone. */
  private void bye(String reason) {
    gone = true;
    if (closed.compareAndSet(false, true)) {
      output.finish(new WireFieldsBuilder().add(FieldTag.REASON, reason).frame(Wire.BYE, 0));
      cancelAll();
    }
  }

  /** A peer that sends no more has gone. */
  @Override
  public void shutdownOutput() {
    close();
  }

  @Override
  public boolean isOpen() {
    return !closed.get();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      output.finish(new byte[0]);
      cancelAll();
    }
  }

  private void cancelAll() {
    streams
        .keySet()
        .forEach(
            number ->
                Optional.ofNullable(streams.remove(number)).ifPresent(ForwardedStream::cancel));
  }
}
