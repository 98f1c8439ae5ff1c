package dev.isola.link;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The socket beside that of the server to which the agent of a sandbox hands connections over. The
 * relay process listens on it; it is created when it is first needed.
 */
final class HandoverSocket {
  /** An agent that fails this often in a row is not asked again. */
  private static final int MAX_FAILURES = 3;

  private final RelayProcess relay;
  private final Path path;
  private final UnixSocketAcceptor.Access access;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicInteger failures = new AtomicInteger();
  private @Nullable Listener listener;
  private boolean unavailable;

  /** The number of the socket in one run of the process. */
  private record Listener(RelaySession session, int id) {}

  HandoverSocket(RelayProcess relay, Path path, UnixSocketAcceptor.Access access) {
    this.relay = relay;
    this.path = path;
    this.access = access;
  }

  /**
   * Connects to another host.
   *
   * @param token what the agent proves with that it may hand over the other side, once
   * @return empty if that is not possible now, for another reason than the host
   * @throws IOException if the host does not accept the connection
   */
  Optional<HandedConnection> connect(byte[] token, InetSocketAddress to, Duration timeout)
      throws IOException, InterruptedException {
    if (failures.get() >= MAX_FAILURES) {
      return Optional.empty();
    }
    HandedConnection connection;
    try {
      Listener current = listener();
      connection = current.session().open(current.id(), token, to, timeout);
    } catch (IOException e) {
      return Optional.empty(); // the server can carry the connection itself
    }
    boolean connected = false;
    try {
      connected = connection.awaitConnected();
      return connected ? Optional.of(connection) : Optional.empty();
    } finally {
      if (!connected) {
        connection.reset();
      }
    }
  }

  /** Records whether the agent was able to hand a connection over. */
  void handedOver(boolean success) {
    if (success) {
      failures.set(0);
    } else {
      failures.incrementAndGet();
    }
  }

  private Listener listener() throws IOException {
    lock.lock();
    try {
      if (unavailable) {
        throw new IOException("the sandbox is held, or gone");
      }
      RelaySession session = relay.session();
      Listener current = listener;
      if (current == null || current.session() != session) {
        current = new Listener(session, publish(session));
        listener = current;
      }
      return current;
    } finally {
      lock.unlock();
    }
  }

  private int publish(RelaySession session) throws IOException {
    Path unpublished = path.resolveSibling(path.getFileName() + ".new");
    Files.deleteIfExists(unpublished);
    int id = session.listen(unpublished);
    try {
      access.grant(unpublished);
      Files.move(
          unpublished, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return id;
    } catch (IOException e) {
      session.unlisten(id);
      throw e;
    }
  }

  /** Resets all connections. New ones get another socket. */
  void reset() {
    lock.lock();
    try {
      Listener current = listener;
      listener = null;
      if (current != null && current.session().isAlive()) {
        current.session().unlisten(current.id());
      }
    } catch (IOException e) {
      // The process is gone, and its connections with it.
    } finally {
      lock.unlock();
    }
  }

  /** Resets all connections; there are no new ones until {@link #resume}. */
  void suspend() {
    lock.lock();
    try {
      unavailable = true;
      reset();
    } finally {
      lock.unlock();
    }
  }

  void resume() {
    lock.lock();
    try {
      unavailable = false;
    } finally {
      lock.unlock();
    }
  }
}
