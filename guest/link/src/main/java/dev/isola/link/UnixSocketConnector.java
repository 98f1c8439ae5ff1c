package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Connects to an agent that listens on a unix socket. */
public final class UnixSocketConnector implements AgentConnector {
  /** Longest path the kernel accepts, without its NUL. */
  static final int PATH_MAX = 107;

  /** Large enough for whole frames; the kernel caps it. */
  private static final int SEND_BUFFER = 4 << 20;

  private static final long PAUSE_NANOS = 1_000_000;

  private final Path path;

  /**
   * Creates a connector.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the path is too long for a socket
   */
  public UnixSocketConnector(Path path) {
    requireValidPath(path);
    this.path = path;
  }

  /**
   * Rejects a path that is too long, before anything is created for it.
   *
   * @throws dev.isola.spi.error.InvalidRequest when the path is too long for a socket
   */
  public static void requireValidPath(Path path) {
    int length = path.toString().getBytes(UTF_8).length;
    if (length > PATH_MAX) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the socket path has "
                  + length
                  + " bytes and the kernel allows "
                  + PATH_MAX
                  + ": "
                  + path,
              "use a data folder with a shorter path")
          .exception();
    }
  }

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER);
        channel.connect(UnixDomainSocketAddress.of(path));
        return new SocketAgentChannel(channel);
      } catch (ConnectException e) {
        channel.close();
        throw new AgentAbsentException("no agent listens on " + path, e);
      } catch (IOException e) {
        channel.close();
        if (!Files.exists(path)) {
          throw new AgentAbsentException("socket does not exist: " + path, e);
        }
        if (!isBacklogFull(e) || System.nanoTime() - deadline >= 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** With a full backlog, connect fails with EAGAIN, which Java exposes only in the message. */
  private static boolean isBacklogFull(IOException e) {
    String text = String.valueOf(e.getMessage());
    return text.contains("temporarily unavailable") || text.contains("EAGAIN");
  }

  @Override
  public String toString() {
    return "unix:" + path;
  }

  private record SocketAgentChannel(SocketChannel channel) implements AgentChannel {
    @Override
    public int read(ByteBuffer target) throws IOException {
      return channel.read(target);
    }

    @Override
    public void write(ByteBuffer source) throws IOException {
      while (source.hasRemaining()) {
        channel.write(source);
      }
    }

    @Override
    public long transfer(FileChannel source, long position, int count) throws IOException {
      return source.transferTo(position, count, channel);
    }

    @Override
    public boolean isConnectionOriented() {
      return true;
    }

    @Override
    public boolean supportsVirtualThreads() {
      return true;
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException ignored) {
        // Nothing else can be done.
      }
    }
  }
}
