package dev.isola.link;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Accepts the connections of an agent that dials a unix socket of this server. A server that binds
 * the same path later takes over: the agent notices the new socket and dials it.
 */
public final class UnixSocketAcceptor implements AgentAcceptor {
  /** Makes a socket accessible to the agent. */
  @FunctionalInterface
  public interface Access {
    void grant(Path socket) throws IOException;
  }

  private static final int BACKLOG = 16;
  private static final Duration RETRY_INTERVAL = Duration.ofMillis(10);

  private final Path path;
  private final BooleanSupplier alive;
  private final ServerSocketChannel server;

  private UnixSocketAcceptor(Path path, BooleanSupplier alive, ServerSocketChannel server) {
    this.path = path;
    this.alive = alive;
    this.server = server;
  }

  /**
   * Binds a socket, replacing that of an earlier server. Agents can dial from now on.
   *
   * @param access makes the socket accessible before it is visible
   * @param alive reports whether the agent's process exists
   * @throws dev.isola.spi.error.InvalidRequest when the path is too long for a socket
   */
  public static UnixSocketAcceptor bind(Path path, Access access, BooleanSupplier alive)
      throws IOException {
    UnixSocketConnector.requireValidPath(path);
    Path unpublished = path.resolveSibling("new");
    Files.deleteIfExists(unpublished);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(UnixDomainSocketAddress.of(unpublished), BACKLOG);
      access.grant(unpublished);
      Files.move(
          unpublished,
          path,
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
      return new UnixSocketAcceptor(path, alive, server);
    } catch (IOException e) {
      server.close();
      throw e;
    }
  }

  @Override
  public void listen(Consumer<AgentChannel> accepted) {
    Thread.ofVirtual().name("isola-accept").start(() -> accept(accepted));
  }

  private void accept(Consumer<AgentChannel> accepted) {
    while (server.isOpen()) {
      try {
        accepted.accept(SocketAgentChannel.of(server.accept()));
      } catch (IOException closedOrOutOfDescriptors) {
        LockSupport.parkNanos(RETRY_INTERVAL.toNanos()); // the agent dials again
      }
    }
  }

  @Override
  public boolean isAgentAlive() {
    return alive.getAsBoolean();
  }

  /** Leaves the socket in place: by now it may be that of another server. */
  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException ignored) {
      // Nothing else can be done.
    }
  }

  @Override
  public String toString() {
    return "unix:" + path;
  }
}
