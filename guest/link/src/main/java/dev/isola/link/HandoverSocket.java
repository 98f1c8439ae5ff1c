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
 * The socket beside that of the server to which the agent of a sandbox hands connections over. A
 * relay process listens on it, which is started when it is first needed, and again after it ended.
 */
final class HandoverSocket {
  /** An agent that fails this often in a row is not asked again. */
  private static final int MAX_FAILURES = 3;

  /** A process that ends as soon as it is started is not started more often than this. */
  private static final long START_INTERVAL = Duration.ofSeconds(1).toNanos();

  private final InstalledProgram agent;
  private final Path folder;
  private final String name;
  private final UnixSocketAcceptor.Access access;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicInteger failures = new AtomicInteger();
  private @Nullable RelayProcess relay;
  private long startedAt = System.nanoTime() - START_INTERVAL;
  private boolean unavailable;

  HandoverSocket(
      InstalledProgram agent, Path folder, String name, UnixSocketAcceptor.Access access) {
    this.agent = agent;
    this.folder = folder;
    this.name = name;
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
      connection = relay().open(token, to, timeout);
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

  private RelayProcess relay() throws IOException {
    lock.lock();
    try {
      if (unavailable) {
        throw new IOException("the sandbox is held, or gone");
      }
      RelayProcess current = relay;
      if (current == null || !current.isAlive()) {
        long now = System.nanoTime();
        if (current != null && now - startedAt < START_INTERVAL) {
          throw new IOException("the relay process has just ended");
        }
        startedAt = now;
        current = publish();
        relay = current;
      }
      return current;
    } finally {
      lock.unlock();
    }
  }

  private RelayProcess publish() throws IOException {
    String temporary = name + ".new";
    Path unpublished = folder.resolve(temporary);
    Files.deleteIfExists(unpublished);
    RelayProcess started = RelayProcess.start(agent.path(), folder, temporary);
    try {
      access.grant(unpublished);
      Files.move(
          unpublished,
          folder.resolve(name),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
      return started;
    } catch (IOException e) {
      started.close();
      throw e;
    }
  }

  /** Resets all connections. New ones get another process. */
  void reset() {
    lock.lock();
    try {
      RelayProcess current = relay;
      relay = null;
      if (current != null) {
        current.close();
      }
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
