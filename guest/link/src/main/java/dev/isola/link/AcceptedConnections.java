package dev.isola.link;

import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates what dials, several peers at once and without waiting for a call: silent peers do
 * not delay the agent, and the agent ends a connection that does not authenticate. The newest
 * authenticated connection waits for the next call, because an agent dials again only after it has
 * lost its connection.
 */
final class AcceptedConnections implements ConnectionSource {
  private static final int MAX_HANDSHAKES = 4;

  /** How often {@link #next} checks whether the agent is still alive. */
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(50);

  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

  private final AgentAcceptor acceptor;
  private final Authentication authentication;
  private final ReentrantLock lock = new ReentrantLock();
  private final SequencedSet<AgentChannel> handshakes = new LinkedHashSet<>();
  private final BlockingDeque<AgentConnection> authenticated = new LinkedBlockingDeque<>(1);
  private volatile boolean closed;

  AcceptedConnections(AgentAcceptor acceptor, Authentication authentication) {
    this.acceptor = acceptor;
    this.authentication = authentication;
    acceptor.listen(
        channel -> {
          begin(channel);
          Thread.startVirtualThread(() -> authenticate(channel));
        });
  }

  /** Closes the oldest channel in a handshake if there are too many. */
  private void begin(AgentChannel channel) {
    lock.lock();
    try {
      handshakes.add(channel);
      if (closed || handshakes.size() > MAX_HANDSHAKES) {
        handshakes.removeFirst().close();
      }
    } finally {
      lock.unlock();
    }
  }

  private void authenticate(AgentChannel channel) {
    try {
      AgentConnection connection = authentication.perform(channel, HANDSHAKE_TIMEOUT);
      while (!authenticated.offer(connection)) {
        close(authenticated.poll());
      }
      if (closed) {
        close(authenticated.poll());
      }
    } catch (IOException notTheAgent) {
      // An agent dials again.
    } finally {
      lock.lock();
      try {
        handshakes.remove(channel);
      } finally {
        lock.unlock();
      }
    }
  }

  @Override
  public AgentConnection next(Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    AgentConnection waiting = authenticated.poll();
    if (waiting != null && !waiting.isClosed()) {
      return waiting;
    }
    while (true) {
      reclaim();
      long left = deadline.leftNanos();
      AgentConnection connection = poll(Math.min(left, CHECK_INTERVAL.toNanos()));
      if (connection != null && !connection.isClosed()) {
        return connection;
      }
      if (closed || !acceptor.isAgentAlive()) {
        throw new AgentAbsentException("no agent dials " + acceptor, null);
      }
      if (left <= 0) {
        throw new SocketTimeoutException(
            "the agent has not dialled " + acceptor + " within " + timeout.toMillis() + " ms");
      }
    }
  }

  /** The folder of the socket is gone if the sandbox was destroyed by another process. */
  private void reclaim() throws IOException {
    try {
      acceptor.reclaim();
    } catch (IOException e) {
      if (!acceptor.isAgentAlive()) {
        throw new AgentAbsentException("no agent dials " + acceptor, e);
      }
      throw e;
    }
  }

  private @Nullable AgentConnection poll(long nanos) throws IOException {
    try {
      return authenticated.poll(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClosedByInterruptException();
    }
  }

  @Override
  public void close() {
    acceptor.close();
    lock.lock();
    try {
      closed = true;
      handshakes.forEach(AgentChannel::close);
    } finally {
      lock.unlock();
    }
    close(authenticated.poll());
  }

  private static void close(@Nullable AgentConnection connection) {
    if (connection != null) {
      connection.close();
    }
  }
}
