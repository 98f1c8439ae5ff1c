package dev.isola.link;

import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** A connection of a guest process to another host, which ends at the agent. */
final class AgentOutboundConnection implements EgressAccess.OutboundConnection {
  private static final int TOKEN_SIZE = 16;
  private static final Duration HANDOVER_TIMEOUT = Duration.ofSeconds(2);
  private static final SecureRandom RANDOM = new SecureRandom();

  private final LinkStream stream;
  private final AgentPort port;
  private final String host;
  private final int number;
  private final Optional<HandoverSocket> handovers;

  /** The agent reads nothing from the guest process before that, and can hand it over. */
  private final AtomicBoolean granted = new AtomicBoolean();

  private volatile boolean finished;

  AgentOutboundConnection(
      LinkStream stream, String host, int number, Optional<HandoverSocket> handovers) {
    this.stream = stream;
    this.port = new AgentPort(stream);
    this.host = host;
    this.number = number;
    this.handovers = handovers;
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public int port() {
    return number;
  }

  @Override
  public Optional<EgressAccess.RelayedConnection> connect(InetSocketAddress to, Duration timeout)
      throws IOException {
    if (handovers.isEmpty() || granted.get()) {
      return Optional.empty();
    }
    byte[] token = new byte[TOKEN_SIZE];
    RANDOM.nextBytes(token);
    try {
      return handovers
          .get()
          .connect(token, to, timeout)
          .map(connection -> new Relayed(handovers.get(), connection, token));
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException();
    }
  }

  private void grantCredit() {
    if (!granted.getAndSet(true)) {
      stream.grantInitialCredit();
    }
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    grantCredit();
    return port.read(target);
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    grantCredit();
    return port.write(source);
  }

  @Override
  public void shutdownOutput() {
    grantCredit();
    finished = true;
    port.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return port.isOpen();
  }

  /** Resets the connection unless all of the output was sent. */
  @Override
  public void close() {
    if (finished) {
      port.close();
    } else if (port.isOpen()) {
      port.reset();
    }
  }

  /** A connection of the relay process, to which the agent can hand this one over. */
  private final class Relayed implements EgressAccess.RelayedConnection {
    private final HandoverSocket socket;
    private final HandedConnection connection;
    private final byte[] token;

    Relayed(HandoverSocket socket, HandedConnection connection, byte[] token) {
      this.socket = socket;
      this.connection = connection;
      this.token = token;
    }

    @Override
    public void limit(long bytesPerSecond) {
      connection.limit(bytesPerSecond);
    }

    @Override
    public boolean start() {
      WireFieldsBuilder request =
          new WireFieldsBuilder(AgentOperation.HANDOVER)
              .add(FieldTag.RELAY, Integer.toUnsignedLong(stream.number()))
              .add(FieldTag.NONCE, token);
      boolean started = false;
      try {
        WireFields unused =
            stream
                .connection()
                .request(AgentOperation.HANDOVER, request, 0)
                .awaitEnd(HANDOVER_TIMEOUT);
        assert unused != null;
        started = true;
      } catch (SandboxException e) {
        // The agent still has the connection, or it has ended.
      }
      socket.handedOver(started);
      return started;
    }

    @Override
    public long sentBytes() {
      return connection.sentBytes();
    }

    @Override
    public long receivedBytes() {
      return connection.receivedBytes();
    }

    @Override
    public void awaitEnd() throws InterruptedException {
      connection.awaitEnd();
    }

    @Override
    public void close() {
      connection.reset();
    }
  }
}
