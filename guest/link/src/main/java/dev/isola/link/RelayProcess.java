package dev.isola.link;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The process of the host that copies the bytes of connections from sandboxes to other hosts, so
 * that they do not pass through the server: the agent's program in another mode. It is started when
 * it is first needed, and again after it ended, and it ends with the server.
 */
public final class RelayProcess implements AutoCloseable {
  /** A process that ends as soon as it is started is not started more often than this. */
  private static final long START_INTERVAL = Duration.ofSeconds(1).toNanos();

  private final InstalledProgram agent;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable RelaySession session;
  private long startedAt = System.nanoTime() - START_INTERVAL;
  private boolean closed;

  public RelayProcess(InstalledProgram agent) {
    this.agent = agent;
  }

  /** Returns the running process, starting one if necessary. */
  RelaySession session() throws IOException {
    lock.lock();
    try {
      RelaySession current = session;
      if (current != null && current.isAlive()) {
        return current;
      }
      long now = System.nanoTime();
      if (closed || now - startedAt < START_INTERVAL) {
        throw new IOException("the relay process is not running");
      }
      startedAt = now;
      RelaySession started = RelaySession.start(agent.path());
      session = started;
      return started;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the socket to which an agent hands connections over; nothing is started yet. */
  HandoverSocket socket(Path path, UnixSocketAcceptor.Access access) {
    return new HandoverSocket(this, path, access);
  }

  /** Ends the process and with it all connections that it has. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (session != null) {
        session.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
