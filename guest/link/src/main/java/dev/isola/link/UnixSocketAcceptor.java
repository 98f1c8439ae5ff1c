package dev.isola.link;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
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

  /** The name that the agent knows. */
  private static final String HANDOVER_SOCKET = "egress";

  private static final int BACKLOG = 16;
  private static final Duration RETRY_INTERVAL = Duration.ofMillis(10);

  private final Path path;
  private final Access access;
  private final BooleanSupplier alive;
  private final Optional<HandoverSocket> handovers;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile Bound bound;
  private volatile Consumer<AgentChannel> consumer = AgentChannel::close;
  private volatile boolean closed;
  private volatile boolean suspended;

  /** A listening socket, and what distinguishes its file from that of another server. */
  private record Bound(ServerSocketChannel server, Object fileKey) {}

  private UnixSocketAcceptor(
      Path path, Access access, BooleanSupplier alive, Optional<HandoverSocket> handovers)
      throws IOException {
    this.path = path;
    this.access = access;
    this.alive = alive;
    this.handovers = handovers;
    this.bound = publish();
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
    return new UnixSocketAcceptor(path, access, alive, Optional.empty());
  }

  /**
   * Binds a socket for an agent that shares the host's kernel, so that it can hand connections over
   * to a relay process, which is the agent's program.
   */
  public static UnixSocketAcceptor bind(
      Path path, Access access, BooleanSupplier alive, InstalledProgram agent) throws IOException {
    UnixSocketConnector.requireValidPath(path);
    HandoverSocket handovers =
        new HandoverSocket(agent, path.resolveSibling(""), HANDOVER_SOCKET, access);
    return new UnixSocketAcceptor(path, access, alive, Optional.of(handovers));
  }

  @Override
  public Optional<HandoverSocket> handovers() {
    return handovers;
  }

  private Bound publish() throws IOException {
    Path unpublished = path.resolveSibling("new");
    Files.deleteIfExists(unpublished);
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(UnixDomainSocketAddress.of(unpublished), BACKLOG);
      access.grant(unpublished);
      Object key = fileKey(unpublished);
      Files.move(
          unpublished, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return new Bound(server, key);
    } catch (IOException e) {
      server.close();
      throw e;
    }
  }

  private static Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }

  @Override
  public void listen(Consumer<AgentChannel> accepted) {
    consumer = accepted;
    startAccepting(bound);
  }

  private void startAccepting(Bound current) {
    Thread.ofVirtual().name("isola-accept").start(() -> accept(current.server()));
  }

  private void accept(ServerSocketChannel server) {
    while (server.isOpen()) {
      try {
        consumer.accept(SocketAgentChannel.of(server.accept()));
      } catch (IOException closedOrOutOfDescriptors) {
        LockSupport.parkNanos(RETRY_INTERVAL.toNanos()); // the agent dials again
      }
    }
  }

  @Override
  public void reclaim() throws IOException {
    lock.lock();
    try {
      if (closed || suspended || isPublished()) {
        return;
      }
      Bound before = bound;
      bound = publish();
      handovers.ifPresent(HandoverSocket::reset); // the other server has replaced its file, too
      startAccepting(bound);
      before.server().close();
    } finally {
      lock.unlock();
    }
  }

  /** Removes the socket, but not that of a server that has taken over. */
  @Override
  public void suspend() throws IOException {
    lock.lock();
    try {
      suspended = true;
      handovers.ifPresent(HandoverSocket::suspend);
      if (isPublished()) {
        Files.delete(path);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void resume() throws IOException {
    lock.lock();
    try {
      suspended = false;
      handovers.ifPresent(HandoverSocket::resume);
      reclaim();
    } finally {
      lock.unlock();
    }
  }

  private boolean isPublished() throws IOException {
    try {
      return fileKey(path).equals(bound.fileKey());
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  @Override
  public boolean isAgentAlive() {
    return alive.getAsBoolean();
  }

  /** Leaves the socket in place: by now it may be that of another server. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      handovers.ifPresent(HandoverSocket::suspend);
      bound.server().close();
    } catch (IOException ignored) {
      // Nothing else can be done.
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "unix:" + path;
  }
}
