package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** TLS over another connection. One thread may read while others write. */
final class TlsConnection implements PortDialing.Connection {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final PortDialing.Connection below;
  private final SSLEngine engine;
  private final ReentrantLock writing = new ReentrantLock();
  private ByteBuffer netIn;
  private ByteBuffer appIn;
  private ByteBuffer netOut;
  private boolean inputEnded;

  TlsConnection(PortDialing.Connection below, SSLEngine engine) {
    this.below = below;
    this.engine = engine;
    int packet = engine.getSession().getPacketBufferSize();
    netIn = ByteBuffer.allocate(packet).limit(0);
    netOut = ByteBuffer.allocate(packet);
    appIn = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
  }

  SSLEngine engine() {
    return engine;
  }

  /** Performs the handshake. Its caller sets a deadline by closing the connection below. */
  void handshake() throws IOException {
    try {
      engine.beginHandshake();
      while (true) {
        switch (engine.getHandshakeStatus()) {
          case NEED_WRAP -> wrap(NOTHING);
          case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
            if (!unwrap()) {
              throw new EOFException("the peer ended the connection within the TLS handshake");
            }
          }
          case NEED_TASK -> runTasks();
          case FINISHED, NOT_HANDSHAKING -> {
            return;
          }
        }
      }
    } catch (SSLException e) {
      sendAlert();
      throw e;
    } catch (RuntimeException e) {
      // The JDK reports a failed task so; what the peer sent must not end more than a connection.
      throw new SSLException("the TLS handshake failed", e);
    }
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /** Sends the alert of a handshake that failed, if the peer still accepts it. */
  private void sendAlert() {
    try {
      for (int i = 0;
          i < 4 && engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP;
          i++) {
        wrap(NOTHING);
      }
    } catch (IOException ignored) {
      // The failure of the handshake is reported, not that of its alert.
    }
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    if (!target.hasRemaining()) {
      return 0;
    }
    while (!appIn.hasRemaining()) {
      if (inputEnded || !unwrap()) {
        return -1;
      }
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> runTasks();
        case NEED_WRAP -> {
          if (!inputEnded) {
            wrap(NOTHING);
          }
        }
        default -> {}
      }
    }
    int count = Math.min(target.remaining(), appIn.remaining());
    target.put(appIn.slice(appIn.position(), count));
    appIn.position(appIn.position() + count);
    return count;
  }

  /** Decrypts one record. Returns false at the end of the input. */
  private boolean unwrap() throws IOException {
    while (true) {
      appIn.compact();
      SSLEngineResult result;
      try {
        result = engine.unwrap(netIn, appIn);
      } finally {
        appIn.flip();
      }
      switch (result.getStatus()) {
        case OK -> {
          return true;
        }
        case CLOSED -> {
          inputEnded = true;
          return appIn.hasRemaining();
        }
        case BUFFER_OVERFLOW ->
            appIn = larger(appIn, engine.getSession().getApplicationBufferSize());
        case BUFFER_UNDERFLOW -> {
          if (netIn.remaining() == netIn.capacity()) {
            netIn = larger(netIn, engine.getSession().getPacketBufferSize());
          }
          netIn.compact();
          int count;
          try {
            count = below.read(netIn);
          } finally {
            netIn.flip();
          }
          if (count < 0) {
            inputEnded = true;
            return false;
          }
        }
      }
    }
  }

  private static ByteBuffer larger(ByteBuffer full, int atLeast) throws SSLException {
    if (full.capacity() > 4 * atLeast) {
      throw new SSLException("a TLS record is too long");
    }
    ByteBuffer more = ByteBuffer.allocate(Math.max(2 * full.capacity(), atLeast));
    return more.put(full).flip();
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int length = source.remaining();
    while (source.hasRemaining()) {
      wrap(source);
    }
    return length;
  }

  private void wrap(ByteBuffer source) throws IOException {
    writing.lock();
    try {
      netOut.clear();
      SSLEngineResult result = engine.wrap(source, netOut);
      if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
        netOut = ByteBuffer.allocate(2 * engine.getSession().getPacketBufferSize());
        return;
      }
      netOut.flip();
      while (netOut.hasRemaining()) {
        below.write(netOut);
      }
      if (result.getStatus() == SSLEngineResult.Status.CLOSED && source.hasRemaining()) {
        throw new ClosedChannelException();
      }
    } finally {
      writing.unlock();
    }
  }

  /** Tells the peer that no more data follows. */
  @Override
  public void shutdownOutput() {
    writing.lock();
    try {
      engine.closeOutbound();
      while (!engine.isOutboundDone()) {
        wrap(NOTHING);
      }
    } catch (IOException ignored) {
      // The peer is gone, so it needs no end.
    } finally {
      writing.unlock();
    }
    below.shutdownOutput();
  }

  @Override
  public boolean isOpen() {
    return below.isOpen();
  }

  @Override
  public void close() throws IOException {
    below.close();
  }
}
