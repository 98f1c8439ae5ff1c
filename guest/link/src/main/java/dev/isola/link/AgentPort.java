package dev.isola.link;

import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A TCP connection inside the sandbox, dialed by the server or accepted by the agent. One thread
 * may read while another writes; interrupting either closes the connection, as with any channel.
 */
final class AgentPort implements PortDialing.Connection {
  static final int WINDOW = 256 * 1024;

  private final LinkStream stream;

  /** Guards the frame, whose memory other connections use once it is released. */
  private final ReentrantLock lock = new ReentrantLock();

  private @Nullable Frame frame;
  private @Nullable ByteBuffer content;
  private boolean ended;
  private volatile boolean closed;

  AgentPort(LinkStream stream) {
    this.stream = stream;
  }

  /** Dials {@code port} on the sandbox's loopback interface. Returns when connected. */
  static AgentPort dial(AgentClient client, int port) {
    WireFieldsBuilder request = new WireFieldsBuilder(AgentOperation.DIAL).add(FieldTag.PORT, port);
    LinkStream stream = client.open(AgentOperation.DIAL, request, WINDOW);
    stream.awaitResponse(client.timeouts().responseTimeout());
    return new AgentPort(stream);
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    requireOpen();
    if (!target.hasRemaining()) {
      return 0;
    }
    while (true) {
      int count = take(target);
      if (count > 0) {
        return count;
      }
      if (ended) {
        return -1;
      }
      fetch();
    }
  }

  /** Copies from the frame that has arrived. Returns how many bytes, 0 if there is none. */
  private int take(ByteBuffer target) {
    lock.lock();
    try {
      if (content == null) {
        return 0;
      }
      int count = Math.min(target.remaining(), content.remaining());
      target.put(target.position(), content, content.position(), count);
      target.position(target.position() + count);
      content.position(content.position() + count);
      if (!content.hasRemaining()) {
        release();
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the memory of the frame, which no reader uses any more, to the pool. */
  private void release() {
    Frame done = frame;
    frame = null;
    content = null;
    if (done != null) {
      done.release();
    }
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    requireOpen();
    int count = source.remaining();
    try {
      if (stream.sendWindow().send(source, LinkStream.FOREVER)) {
        return count;
      }
    } catch (InterruptedException e) {
      throw interrupted();
    }
    requireOpen();
    CloseReason closeReason = stream.closeReason();
    throw new IOException(
        closeReason == null ? "the peer closed the connection" : closeReason.message());
  }

  @Override
  public void shutdownOutput() {
    stream.sendWindow().sendEof();
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public void close() {
    closed = true;
    stream.linger();
    releaseLocked();
  }

  private void releaseLocked() {
    lock.lock();
    try {
      release();
    } finally {
      lock.unlock();
    }
  }

  /** Closes the connection so that the other side sees a reset. */
  void reset() {
    closed = true;
    stream.cancelAndDiscard();
    releaseLocked();
  }

  private void fetch() throws IOException {
    Frame next;
    try {
      next = stream.next(LinkStream.FOREVER);
    } catch (InterruptedException e) {
      throw interrupted();
    } catch (SandboxException e) {
      requireOpen();
      throw new IOException(e.getMessage(), e);
    }
    if (next == null || next.type() == Wire.END || next.type() == Wire.EOF) {
      ended = true;
    } else if (next.type() == Wire.ERROR) {
      ended = true;
      throw new IOException(stream.error(next).message());
    } else {
      lock.lock();
      try {
        frame = next;
        content = next.content();
        if (closed) {
          release();
        }
      } finally {
        lock.unlock();
      }
      requireOpen();
    }
  }

  private void requireOpen() throws ClosedChannelException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  private ClosedByInterruptException interrupted() {
    close();
    Thread.currentThread().interrupt();
    return new ClosedByInterruptException();
  }
}
