package dev.isola.link;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Exit;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps at most one live connection to an agent and reconnects when a call needs it. Thread-safe.
 */
final class AgentClient implements AutoCloseable {
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration DRAIN_INTERVAL = Duration.ofMillis(1);

  private final SandboxId id;
  private final AgentEndpoint endpoint;
  private final ConnectionSource source;
  private final Secret secret;
  private final LinkTimeouts timeouts;
  private final Supplier<Optional<Exit>> observedExit;
  private final ReentrantLock connecting = new ReentrantLock();
  private final AtomicReference<@Nullable CompletableFuture<Boolean>> holding =
      new AtomicReference<>();
  private volatile @Nullable AgentConnection current;
  private volatile @Nullable String goneReason;
  private volatile SandboxState state = SandboxState.RUNNING;
  private volatile boolean closed;
  private volatile boolean connectedBefore;

  AgentClient(SandboxId id, AgentEndpoint endpoint, Secret secret, LinkTimeouts timeouts) {
    this(id, endpoint, secret, timeouts, Optional::empty);
  }

  AgentClient(
      SandboxId id,
      AgentEndpoint endpoint,
      Secret secret,
      LinkTimeouts timeouts,
      Supplier<Optional<Exit>> observedExit) {
    this.id = id;
    this.secret = secret;
    this.timeouts = timeouts;
    this.observedExit = observedExit;
    this.endpoint = endpoint;
    this.source = ConnectionSource.of(endpoint, this::authenticate);
  }

  /**
   * Returns the exit of a command whose sandbox went away: as observed by the host, otherwise
   * {@link Exit.Lost}.
   */
  Exit exitWhenGone(String reason) {
    return observedExit.get().orElseGet(() -> new Exit.Lost(reason));
  }

  SandboxId id() {
    return id;
  }

  AgentEndpoint endpoint() {
    return endpoint;
  }

  LinkTimeouts timeouts() {
    return timeouts;
  }

  /** Returns why the sandbox is gone; empty while it is not known to be gone. */
  Optional<String> goneReason() {
    AgentConnection connection = current;
    if (goneReason == null && connection != null && state != SandboxState.STOPPED) {
      connection
          .closeReason()
          .filter(closeReason -> closeReason.kind() == CloseReason.Kind.GONE)
          .ifPresent(closeReason -> setGone(closeReason.message()));
    }
    return Optional.ofNullable(goneReason);
  }

  /** Also stops waiting for the agent. */
  private void setGone(String reason) {
    goneReason = reason;
    source.close();
  }

  /** Makes every further call throw {@link dev.isola.spi.error.Gone}. */
  void markGone(String reason) {
    if (goneReason().isEmpty()) {
      setGone(reason);
    }
    AgentConnection connection = current;
    if (connection != null) {
      connection.markGone(reason);
    }
  }

  /**
   * Records the state that the provider gave the sandbox. A frozen agent does not count as dead and
   * a stopped one is not missed; after a restart the next call reconnects.
   */
  void setState(SandboxState newState) {
    AgentConnection connection = current;
    if (newState == SandboxState.RUNNING && state == SandboxState.STOPPED) {
      current = null;
      connectedBefore = false;
      if (connection != null) {
        connection.close();
      }
    } else if (connection != null) {
      connection.pauseKeepalive(newState != SandboxState.RUNNING);
    }
    state = newState;
  }

  SandboxState state() {
    return state;
  }

  /**
   * Returns the live connection, or connects.
   *
   * @throws dev.isola.spi.error.Gone when the agent has ended
   * @throws ProviderUnavailable when no connection is established within the timeout
   * @throws dev.isola.spi.error.Conflict while the sandbox is paused or stopped
   */
  AgentConnection connection() {
    awaitRelease();
    return connectionDuringHold();
  }

  /** Like {@link #connection}, without waiting until the sandbox is released. */
  AgentConnection connectionDuringHold() {
    requireRunning();
    AgentConnection connection = current;
    if (connection != null && !connection.isClosed()) {
      return connection;
    }
    try {
      connecting.lockInterruptibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CloseReason.cancelled(id, "connecting");
    }
    try {
      connection = current;
      if (connection != null && !connection.isClosed()) {
        return connection;
      }
      AgentConnection created = connect();
      current = created;
      connectedBefore = true;
      if (closed || goneReason != null) {
        created.close();
      }
      return created;
    } finally {
      connecting.unlock();
    }
  }

  /**
   * Makes further calls wait, and returns the connection once no operation needs it.
   *
   * @throws dev.isola.spi.error.Conflict if one still does after a second
   */
  AgentConnection beginHold(Duration timeout) {
    AgentConnection connection = connection();
    CompletableFuture<Boolean> release = new CompletableFuture<>();
    if (!holding.compareAndSet(null, release)) {
      throw Fault.of(ErrorCode.CONFLICT, "sandbox " + id + " is held already", "try again")
          .sandbox(id)
          .exception();
    }
    // Also released when the agent continues by itself, so that no call waits forever.
    release.completeOnTimeout(true, timeout.toMillis(), TimeUnit.MILLISECONDS);
    boolean drained = false;
    try {
      drain(connection);
      drained = true;
    } finally {
      if (!drained) {
        endHold();
      }
    }
    return connection;
  }

  private void drain(AgentConnection connection) {
    Deadline deadline = Deadline.in(DRAIN_TIMEOUT);
    Optional<AgentOperation> unfinished = connection.unfinishedOperation();
    while (unfinished.isPresent()) {
      if (deadline.over()) {
        throw Fault.of(
                ErrorCode.CONFLICT,
                "an operation in sandbox " + id + " is under way: " + unfinished.get(),
                "wait until it has ended")
            .sandbox(id)
            .exception();
      }
      sleep(DRAIN_INTERVAL.toNanos());
      unfinished = connection.unfinishedOperation();
    }
  }

  /** Lets the waiting calls continue. */
  void endHold() {
    CompletableFuture<Boolean> release = holding.getAndSet(null);
    if (release != null) {
      release.complete(true);
    }
  }

  /** Waits while the sandbox is held. */
  void awaitRelease() {
    CompletableFuture<Boolean> release = holding.get();
    if (release != null) {
      release.join();
    }
  }

  /**
   * Opens a stream. Retries once on a new connection when the current one turns out to be dead
   * before the request was sent.
   *
   * @param window added to the request as its CREDIT unless 0
   */
  LinkStream open(AgentOperation operation, WireFieldsBuilder request, int window) {
    return open(operation, request, window, _ -> {});
  }

  /** Opens a stream on which the agent opens others, in the same way. */
  LinkStream openRelay(
      AgentOperation operation,
      WireFieldsBuilder request,
      BiConsumer<LinkStream, WireFields> onIncoming) {
    return open(operation, request, 0, stream -> stream.onIncoming(onIncoming));
  }

  private LinkStream open(
      AgentOperation operation,
      WireFieldsBuilder request,
      int window,
      Consumer<LinkStream> prepare) {
    if (window > 0) {
      request.add(FieldTag.CREDIT, window);
    }
    AgentConnection connection = connection();
    try {
      return connection.request(operation, request, window, prepare);
    } catch (ProviderUnavailable e) {
      if (!connection.isClosed()) {
        throw e;
      }
      return connection().request(operation, request, window, prepare);
    }
  }

  /**
   * Sends a request whose only reply is END. Retries a request without side effects once after a
   * dropped connection.
   */
  WireFields call(AgentOperation operation, WireFieldsBuilder request, Duration timeout) {
    LinkStream stream = open(operation, request, 0);
    try {
      return stream.awaitEnd(timeout);
    } catch (ProviderUnavailable e) {
      CloseReason closeReason = stream.closeReason();
      if (operation.isMutating() || closeReason == null || !closeReason.isRecoverable()) {
        throw e;
      }
      return open(operation, request, 0).awaitEnd(timeout);
    }
  }

  /**
   * Like {@link #call}, for requests that may be repeated; defers an interrupt until the reply has
   * arrived.
   */
  WireFields callUninterrupted(
      AgentOperation operation, WireFieldsBuilder request, Duration timeout) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return call(operation, request, timeout);
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

  boolean isConnected() {
    AgentConnection connection = current;
    return connection != null && !connection.isClosed();
  }

  /** Closes the connection; the sandbox keeps running. */
  @Override
  public void close() {
    closed = true;
    source.close();
    AgentConnection connection = current;
    if (connection != null) {
      connection.close();
    }
  }

  private AgentConnection connect() {
    long start = System.nanoTime();
    long pause = 1_000_000;
    SandboxException last = null;
    while (true) {
      requireNotGone();
      long spent = System.nanoTime() - start;
      Duration left = timeouts.connectTimeout().minusNanos(spent);
      if (last != null && !left.isPositive()) {
        throw last; // no time left for another attempt
      }
      try {
        return source.next(left);
      } catch (ClosedByInterruptException e) {
        throw CloseReason.cancelled(id, "connecting");
      } catch (AgentAbsentException e) {
        String reason = String.valueOf(e.getMessage());
        last = CloseReason.gone(id, reason);
        if (e.isPermanent() || (connectedBefore && spent >= timeouts.absenceTimeout().toNanos())) {
          setGone(reason);
          throw last;
        }
      } catch (ConnectionLostException e) {
        last = e.reason().exception(id, false);
        if (!e.reason().isRecoverable()) {
          throw last;
        }
      } catch (IOException e) {
        throw CloseReason.unreachable(id, String.valueOf(e.getMessage()));
      }
      sleep(pause);
      pause = Math.min(pause * 2, 50_000_000);
    }
  }

  private AgentConnection authenticate(AgentChannel channel, Duration left) throws IOException {
    Duration timeout =
        left.compareTo(timeouts.handshakeTimeout()) < 0 ? left : timeouts.handshakeTimeout();
    return AgentConnection.open(id, channel, secret, timeouts.withHandshakeTimeout(timeout));
  }

  private void requireRunning() {
    if (state != SandboxState.RUNNING && goneReason().isEmpty()) {
      throw Fault.of(
              ErrorCode.ILLEGAL_STATE,
              "sandbox " + id + " is " + state.name().toLowerCase(Locale.ROOT),
              "resume it first")
          .sandbox(id)
          .exception();
    }
  }

  private void requireNotGone() {
    Optional<String> reason = goneReason();
    if (reason.isPresent()) {
      throw CloseReason.gone(id, reason.get());
    }
    if (closed) {
      throw CloseReason.unreachable(id, "its provider was closed");
    }
  }

  private void sleep(long nanos) {
    LockSupport.parkNanos(this, nanos);
    if (Thread.currentThread().isInterrupted()) {
      throw CloseReason.cancelled(id, "connecting");
    }
  }
}
