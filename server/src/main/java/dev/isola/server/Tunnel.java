package dev.isola.server;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.io.AbstractConnection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.BufferUtil;
import org.jspecify.annotations.Nullable;

/**
 * Copies bytes between a client and a port of a sandbox after an upgrade to another protocol. Each
 * direction has one thread and one buffer, so a side that does not read slows down the other.
 */
final class Tunnel extends AbstractConnection implements Connection.UpgradeTo {
  private static final int BUFFER = 16 * 1024;

  /** A tunnel that is idle for longer is closed. */
  private static final Duration IDLE = Duration.ofHours(1);

  private final PortDialing.Connection port;
  private final ByteBuffer early;
  private final Runnable ended;
  private final Thread upward =
      Thread.ofVirtual().name("isola-tunnel-up").unstarted(this::copyToSandbox);
  private final Thread downward =
      Thread.ofVirtual().name("isola-tunnel-down").unstarted(this::copyToClient);
  private final AtomicInteger open = new AtomicInteger(2);
  private ByteBuffer sent = BufferUtil.EMPTY_BUFFER;

  /**
   * @param early bytes that the sandbox sent after its response head
   * @param ended called when the tunnel is closed, possibly more than once
   */
  Tunnel(
      EndPoint client,
      Executor executor,
      PortDialing.Connection port,
      byte[] early,
      Runnable ended) {
    super(client, executor);
    this.ended = ended;
    this.port = port;
    this.early = ByteBuffer.wrap(early);
  }

  /** Receives the bytes that the client sent after its request head. */
  @Override
  public void onUpgradeTo(ByteBuffer behind) {
    sent = BufferUtil.copy(behind);
  }

  @Override
  public void onOpen() {
    super.onOpen();
    getEndPoint().setIdleTimeout(IDLE.toMillis());
    upward.start();
    downward.start();
  }

  private void copyToSandbox() {
    try {
      write(sent);
      ByteBuffer buffer = BufferUtil.allocate(BUFFER);
      while (true) {
        BufferUtil.clear(buffer);
        int read = getEndPoint().fill(buffer);
        if (read < 0) {
          port.shutdownOutput();
          directionClosed();
          return;
        }
        if (read > 0) {
          write(buffer);
        } else {
          try (Blocker.Callback ready = Blocker.callback()) {
            getEndPoint().fillInterested(ready);
            ready.block();
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      close(); // one side disconnected
    }
  }

  private void write(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      port.write(buffer);
    }
  }

  private void copyToClient() {
    try {
      send(early);
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
      while (port.read(buffer.clear()) >= 0) {
        send(buffer.flip());
      }
      getEndPoint().shutdownOutput();
      directionClosed();
    } catch (IOException | RuntimeException e) {
      close();
    }
  }

  private void send(ByteBuffer buffer) throws IOException {
    if (buffer.hasRemaining()) {
      try (Blocker.Callback written = Blocker.callback()) {
        getEndPoint().write(written, buffer);
        written.block();
      }
    }
  }

  /** Called when one direction ends; closes the tunnel after the second. */
  private void directionClosed() {
    if (open.decrementAndGet() == 0) {
      close();
    }
  }

  @Override
  public void onFillable() {
    throw new IllegalStateException("a tunnel does not use fill callbacks");
  }

  @Override
  public void onClose(@Nullable Throwable cause) {
    super.onClose(cause);
    release();
  }

  @Override
  public void close() {
    super.close();
    release();
  }

  private void release() {
    try {
      port.close();
    } catch (IOException e) {
      // Already closed.
    }
    upward.interrupt();
    downward.interrupt();
    ended.run();
  }
}
