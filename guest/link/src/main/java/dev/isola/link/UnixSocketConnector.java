package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Connects to an agent that listens on a unix socket. */
public final class UnixSocketConnector implements AgentConnector {
  /** Longest path the kernel accepts, without its NUL. */
  static final int PATH_MAX = 107;

  private static final Duration PAUSE = Duration.ofMillis(1);

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
    return SocketAgentChannel.of(connect(timeout));
  }

  /** Connects as {@link #open} does. */
  SocketChannel connect(Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        channel.connect(UnixDomainSocketAddress.of(path));
        return channel;
      } catch (ConnectException e) {
        channel.close();
        throw new AgentAbsentException("no agent listens on " + path, e);
      } catch (IOException e) {
        channel.close();
        if (!Files.exists(path)) {
          throw new AgentAbsentException("socket does not exist: " + path, e);
        }
        if (!isBacklogFull(e) || !deadline.pause(PAUSE)) {
          throw e;
        }
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
}
