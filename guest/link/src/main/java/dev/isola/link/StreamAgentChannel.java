package dev.isola.link;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A channel over a pair of streams: standard input and output of a process, exec in a pod, or a
 * virtio port. Blocking file streams pin their thread, so the connection uses platform threads.
 */
public final class StreamAgentChannel implements AgentChannel {
  private static final int PIECE = 64 * 1024;

  private final InputStream in;
  private final OutputStream out;
  private final Runnable onClose;
  private final boolean socket;
  private final byte[] readPiece = new byte[PIECE];
  private final byte[] writePiece = new byte[PIECE];
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Creates a channel.
   *
   * @param in from the agent
   * @param out to the agent
   * @param onClose called once, before the streams are closed; must unblock pending reads and
   *     writes where closing the streams does not (for a pipe: end the process at its other end)
   */
  public StreamAgentChannel(InputStream in, OutputStream out, Runnable onClose) {
    this(in, out, onClose, false);
  }

  private StreamAgentChannel(InputStream in, OutputStream out, Runnable onClose, boolean socket) {
    this.in = in;
    this.out = out;
    this.onClose = onClose;
    this.socket = socket;
  }

  /**
   * Returns a channel over the streams of a connected socket, with or without TLS, for which a
   * blocked virtual thread releases its carrier.
   *
   * @param onClose closes the socket
   */
  public static AgentChannel overSocket(InputStream in, OutputStream out, Runnable onClose) {
    return new StreamAgentChannel(in, out, onClose, true);
  }

  /**
   * Returns a connector for a channel that can be opened only once: after a drop the agent is gone.
   */
  public static AgentConnector singleUse(AgentChannel channel) {
    return new SingleUseConnector(channel);
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    if (target.hasArray()) {
      int at = target.arrayOffset() + target.position();
      return advance(target, in.read(target.array(), at, target.remaining()));
    }
    int count = in.read(readPiece, 0, Math.min(PIECE, target.remaining()));
    if (count > 0) {
      target.put(readPiece, 0, count);
    }
    return count;
  }

  @Override
  public void write(ByteBuffer source) throws IOException {
    if (source.hasArray()) {
      out.write(source.array(), source.arrayOffset() + source.position(), source.remaining());
      advance(source, source.remaining());
    }
    while (source.hasRemaining()) {
      int count = Math.min(PIECE, source.remaining());
      source.get(writePiece, 0, count);
      out.write(writePiece, 0, count);
    }
    out.flush();
  }

  private static int advance(ByteBuffer buffer, int count) {
    buffer.position(buffer.position() + Math.max(count, 0));
    return count;
  }

  @Override
  public boolean isConnectionOriented() {
    return socket;
  }

  @Override
  public boolean supportsVirtualThreads() {
    return socket;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    onClose.run();
    closeQuietly(out);
    closeQuietly(in);
  }

  private static void closeQuietly(AutoCloseable stream) {
    try {
      stream.close();
    } catch (Exception ignored) {
      // The other end may be gone already.
    }
  }

  private record SingleUseConnector(AgentChannel channel, AtomicBoolean used)
      implements AgentConnector {
    SingleUseConnector(AgentChannel channel) {
      this(channel, new AtomicBoolean());
    }

    @Override
    public AgentChannel open(Duration timeout) throws IOException {
      if (used.compareAndSet(false, true)) {
        return channel;
      }
      throw new AgentAbsentException("the agent's only channel was closed", null);
    }
  }
}
