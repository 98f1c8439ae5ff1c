package dev.isola.link;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps at most one live connection to one agent, and makes a new one when a call needs it. May be
 * used from any thread.
 */
final class AgentClient implements AutoCloseable {
  private final SandboxId id;
  private final AgentConnector connector;
  private final Secret secret;
  private final LinkOptions options;
  private final ReentrantLock connecting = new ReentrantLock();
  private volatile @Nullable AgentConnection current;
  private volatile @Nullable String gone;
  private volatile boolean suspended;
  private volatile boolean closed;
  private boolean connectedBefore;

  AgentClient(SandboxId id, AgentConnector connector, Secret secret, LinkOptions options) {
    this.id = id;
    this.connector = connector;
    this.secret = secret;
    this.options = options;
  }

  SandboxId id() {
    return id;
  }

  LinkOptions options() {
    return options;
  }

  /** Returns why the sandbox is gone; empty while it is not known to be. */
  Optional<String> gone() {
    AgentConnection connection = current;
    if (gone == null && connection != null) {
      connection
          .loss()
          .filter(loss -> loss.kind() == Loss.Kind.GONE)
          .ifPresent(loss -> gone = loss.why());
    }
    return Optional.ofNullable(gone);
  }

  /** Makes every call from now on throw {@link dev.isola.spi.error.Gone}. */
  void markGone(String why) {
    if (gone().isEmpty()) {
      gone = why;
    }
    AgentConnection connection = current;
    if (connection != null) {
      connection.end(why);
    }
  }

  /** Stops looking for signs of life while the sandbox is frozen. */
  void suspend(boolean on) {
    suspended = on;
    AgentConnection connection = current;
    if (connection != null) {
      connection.quiet(on);
    }
  }

  boolean suspended() {
    return suspended;
  }

  /**
   * Returns the live connection, or makes one.
   *
   * @throws dev.isola.spi.error.Gone when nobody listens any more
   * @throws ProviderUnavailable when no connection comes about within the patience
   */
  AgentConnection connection() {
    AgentConnection connection = current;
    if (connection != null && !connection.isClosed()) {
      return connection;
    }
    try {
      connecting.lockInterruptibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Loss.cancelled(id, "connecting");
    }
    try {
      connection = current;
      if (connection != null && !connection.isClosed()) {
        return connection;
      }
      AgentConnection made = connect();
      made.quiet(suspended);
      current = made;
      connectedBefore = true;
      if (closed || gone != null) {
        made.close();
      }
      return made;
    } finally {
      connecting.unlock();
    }
  }

  /**
   * Opens a stream; when the connection turns out to be dead before anything was sent, once more on
   * a new one.
   *
   * @param window added to the request as its CREDIT unless 0
   */
  LinkStream open(Operation operation, FieldsBuilder request, int window) {
    if (window > 0) {
      request.add(Tag.CREDIT, window);
    }
    AgentConnection connection = connection();
    try {
      return connection.request(operation, request, window);
    } catch (ProviderUnavailable e) {
      if (!connection.isClosed()) {
        throw e;
      }
      return connection().request(operation, request, window);
    }
  }

  /**
   * Asks for something that is answered by END alone. What changes nothing is asked again once
   * after a drop.
   */
  Fields call(Operation operation, FieldsBuilder request, Duration patience) {
    LinkStream stream = open(operation, request, 0);
    try {
      return stream.end(patience);
    } catch (ProviderUnavailable e) {
      Loss loss = stream.loss();
      if (operation.changes() || loss == null || !loss.recoverable()) {
        throw e;
      }
      return open(operation, request, 0).end(patience);
    }
  }

  /** Like {@link #call} for what may be repeated; an interrupt waits until it is done. */
  Fields callUninterrupted(Operation operation, FieldsBuilder request, Duration patience) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return call(operation, request, patience);
        } catch (SandboxException e) {
          if (e.code() != ErrorCode.CANCELLED || !Thread.interrupted()) {
            throw e;
          }
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Closes the connection; the sandbox goes on. */
  @Override
  public void close() {
    closed = true;
    AgentConnection connection = current;
    if (connection != null) {
      connection.close();
    }
  }

  private AgentConnection connect() {
    long start = System.nanoTime();
    long pause = 1_000_000;
    while (true) {
      refuseWhenOver();
      long spent = System.nanoTime() - start;
      Duration left = options.connect().minusNanos(spent);
      try {
        return greet(left.isPositive() ? left : Duration.ofNanos(1));
      } catch (ClosedByInterruptException e) {
        throw Loss.cancelled(id, "connecting");
      } catch (AgentAbsentException e) {
        Duration patience = connectedBefore ? options.absent() : options.connect();
        if (spent >= patience.toNanos()) {
          String why = String.valueOf(e.getMessage());
          gone = connectedBefore ? why : gone;
          throw Loss.gone(id, why);
        }
      } catch (LostException e) {
        if (!e.loss().recoverable() || !left.isPositive()) {
          throw e.loss().exception(id, false);
        }
      } catch (IOException e) {
        throw Loss.unreachable(id, String.valueOf(e.getMessage()));
      }
      pauseFor(pause);
      pause = Math.min(pause * 2, 50_000_000);
    }
  }

  private AgentConnection greet(Duration left) throws IOException {
    AgentChannel channel = connector.open(left);
    Duration greeting = left.compareTo(options.greeting()) < 0 ? left : options.greeting();
    return AgentConnection.open(id, channel, secret, options.withGreeting(greeting));
  }

  private void refuseWhenOver() {
    Optional<String> why = gone();
    if (why.isPresent()) {
      throw Loss.gone(id, why.get());
    }
    if (closed) {
      throw Loss.unreachable(id, "its provider was closed");
    }
  }

  private void pauseFor(long nanos) {
    LockSupport.parkNanos(this, nanos);
    if (Thread.currentThread().isInterrupted()) {
      throw Loss.cancelled(id, "connecting");
    }
  }
}
