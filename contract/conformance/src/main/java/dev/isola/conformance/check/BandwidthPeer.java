package dev.isola.conformance.check;

import dev.isola.spi.capability.EgressAccess;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import dev.isola.spi.capability.EgressAccess.RelayedConnection;
import dev.isola.spi.capability.Sandbox;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The other end of connections whose bytes are limited. It carries some itself, as a server does,
 * and lets the provider's process carry others to a listener on loopback.
 */
final class BandwidthPeer implements AutoCloseable {
  /** A host whose connections are read up to {@link #FIRST} and then held. */
  static final String HELD = "held.example";

  /** How much of a held connection is read. */
  static final int FIRST = 1_000_000;

  static final int PORT = 443;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final ServerSocket listener;
  private final EgressAccess.Relay relay;
  private final CountDownLatch firstRead = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final BlockingQueue<Long> received = new LinkedBlockingQueue<>();
  private final BlockingQueue<Optional<Long>> carried = new LinkedBlockingQueue<>();
  private volatile long limit;

  private BandwidthPeer(ServerSocket listener, EgressAccess access) {
    this.listener = listener;
    this.relay = access.open("", EgressServer.PORTS, this::serve);
    Thread.ofVirtual().start(this::receive);
  }

  static BandwidthPeer open(Sandbox sandbox) throws IOException {
    return new BandwidthPeer(
        new ServerSocket(0, 16, InetAddress.getLoopbackAddress()), sandbox.egress().orElseThrow());
  }

  /** Waits until the first bytes of a held connection are read. Returns false if they are not. */
  boolean awaitFirst() throws InterruptedException {
    return firstRead.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
  }

  /** Reads the rest of a held connection. */
  void release() {
    released.countDown();
  }

  /** Sets the limit of the connections that follow, in bytes per second. */
  void limit(long bytesPerSecond) {
    limit = bytesPerSecond;
  }

  /**
   * Returns how many nanoseconds a connection to another host took, once it has ended; empty if the
   * provider does not carry connections beside the server.
   */
  Optional<Long> took() throws InterruptedException {
    Optional<Long> took = carried.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    return took == null ? Optional.empty() : took;
  }

  /** Returns how many bytes arrived by it. */
  long received() throws InterruptedException {
    Long count = received.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    return count == null ? -1 : count;
  }

  private void serve(OutboundConnection connection) {
    try {
      if (connection.host().equals(HELD)) {
        hold(connection);
      } else {
        relay(connection);
      }
    } catch (IOException e) {
      carried.add(Optional.empty());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void hold(OutboundConnection connection) throws IOException, InterruptedException {
    ByteBuffer buffer = ByteBuffer.allocate(65_536);
    long count = 0;
    while (connection.read(buffer.clear()) >= 0) {
      count += buffer.position();
      if (count >= FIRST && firstRead.getCount() > 0) {
        firstRead.countDown();
        released.await();
      }
    }
    received.add(count);
    connection.shutdownOutput();
  }

  private void relay(OutboundConnection connection) throws IOException, InterruptedException {
    InetSocketAddress to =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort());
    Optional<RelayedConnection> found = connection.connect(to, TIMEOUT);
    if (found.isEmpty()) {
      carried.add(Optional.empty());
      return;
    }
    try (RelayedConnection relayed = found.get()) {
      long start = System.nanoTime();
      relayed.limit(limit);
      if (relayed.start()) {
        relayed.awaitEnd();
        carried.add(Optional.of(System.nanoTime() - start));
      } else {
        carried.add(Optional.empty());
      }
    }
  }

  /** Receives all bytes of one connection after the other. */
  private void receive() {
    try {
      while (!listener.isClosed()) {
        try (Socket socket = listener.accept()) {
          long count = 0;
          byte[] buffer = new byte[65_536];
          for (int n = socket.getInputStream().read(buffer);
              n >= 0;
              n = socket.getInputStream().read(buffer)) {
            count += n;
          }
          received.add(count);
        }
      }
    } catch (IOException e) {
      // The peer is closed, or the connection was reset: nothing is reported.
    }
  }

  @Override
  public void close() throws IOException {
    released.countDown();
    relay.close();
    listener.close();
  }
}
