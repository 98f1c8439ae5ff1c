package dev.isola.link;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One stream of a connection. The connection's reading thread adds frames and never waits; callers
 * consume them, which grants credit. The granted credit bounds the queue. {@link SendWindow} is the
 * other direction.
 */
final class LinkStream implements ConnectionStream {
  /** Waits without a timeout. */
  static final Duration FOREVER = Duration.ZERO;

  private final AgentConnection connection;
  private final int number;
  private final AgentOperation operation;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final ReceiveWindow receiveWindow;
  private final SendWindow sendWindow;
  private @Nullable Frame terminal;
  private @Nullable CloseReason closeReason;
  private @Nullable Consumer<WireFields> onLateHead;
  private @Nullable BiConsumer<LinkStream, WireFields> onIncoming;
  private boolean responded;
  private boolean discarding;
  private boolean lingering;
  private long discardedAtNanos;

  /**
   * Creates a stream.
   *
   * @param window how many bytes the agent may have in flight; granted with the request, or by
   *     {@link #grantInitialCredit()}
   * @param sendCredit how many bytes may be sent before the first CREDIT
   */
  LinkStream(
      AgentConnection connection,
      int number,
      AgentOperation operation,
      int window,
      long sendCredit) {
    this.connection = connection;
    this.number = number;
    this.operation = operation;
    this.receiveWindow =
        new ReceiveWindow(window, operation == AgentOperation.INCOMING ? 0 : window);
    this.sendWindow = new SendWindow(connection, number, sendCredit);
  }

  int number() {
    return number;
  }

  @Override
  public AgentOperation operation() {
    return operation;
  }

  AgentConnection connection() {
    return connection;
  }

  /** Returns the sending side of the stream. */
  SendWindow sendWindow() {
    return sendWindow;
  }

  @Override
  public void awaitSent() {
    sendWindow.awaitIdle();
  }

  // Called by the reading thread.

  /**
   * Accepts a frame.
   *
   * @throws ProtocolViolation when it is not allowed in the current state
   */
  @Override
  public void accept(Frame frame) {
    if (!operation.allowsReply(frame.type())) {
      throw new ProtocolViolation("a frame of type " + frame.type() + " in reply to " + operation);
    }
    lock.lock();
    try {
      if (frame.type() == Wire.CREDIT) {
        sendWindow.grant(frame.payload());
        return;
      }
      responded = true;
      receiveWindow.check(frame);
      if (frame.isTerminal()) {
        terminal = frame;
        sendWindow.close();
      } else if (discarding) {
        discardFrame(frame);
        return;
      } else {
        receiveWindow.add(frame);
      }
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the operation would fail or be repeated if the connection ended now. */
  @Override
  public boolean needsConnection() {
    lock.lock();
    try {
      return !discarding && !(operation.isReopened() && responded);
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all waiting callers, because the connection is closed. */
  @Override
  public void connectionClosed(CloseReason reason) {
    lock.lock();
    try {
      if (terminal == null && closeReason == null) {
        closeReason = reason;
      }
      arrived.signalAll();
      sendWindow.close();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Passes a stream that the agent opened to the handler.
   *
   * @throws ProtocolViolation when its fields are invalid
   */
  void incoming(LinkStream stream, WireFields fields) {
    BiConsumer<LinkStream, WireFields> handler;
    lock.lock();
    try {
      handler = discarding ? null : onIncoming;
    } finally {
      lock.unlock();
    }
    if (handler == null) {
      stream.cancel();
    } else {
      handler.accept(stream, fields);
    }
  }

  /** Cancels a stream that has lingered since {@code nanoTime} or longer. */
  @Override
  public void cancelLingering(long nanoTime) {
    lock.lock();
    try {
      if (lingering && !over() && discardedAtNanos - nanoTime <= 0) {
        lingering = false;
        discardedAtNanos = System.nanoTime();
        connection.sendControl(Wire.frame(Wire.CANCEL, number));
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns true when the stream was cancelled at {@code nanoTime} or earlier and has not ended.
   */
  @Override
  public boolean cancelledBefore(long nanoTime) {
    lock.lock();
    try {
      return discarding && !lingering && !over() && discardedAtNanos - nanoTime <= 0;
    } finally {
      lock.unlock();
    }
  }

  // Called by users of the stream.

  void onIncoming(BiConsumer<LinkStream, WireFields> handler) {
    lock.lock();
    try {
      onIncoming = handler;
    } finally {
      lock.unlock();
    }
  }

  /** Grants the first credit on a stream that the agent opened. */
  void grantInitialCredit() {
    lock.lock();
    try {
      connection.sendControl(Wire.credit(number, receiveWindow.grantAll()));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the next frame. Returns the terminal frame again when called repeatedly.
   *
   * @return null after {@code timeout}
   * @throws SandboxException when the connection is lost; with {@code CANCELLED} when the stream
   *     was cancelled
   */
  @Nullable Frame next(Duration timeout) throws InterruptedException {
    long deadline = deadline(timeout);
    lock.lockInterruptibly();
    try {
      while (receiveWindow.isEmpty() && terminal == null) {
        if (closeReason != null) {
          throw closeReason.exception(connection.id(), operation.isMutating());
        }
        if (discarding) {
          throw CloseReason.cancelled(connection.id(), operation + " on a closed stream");
        }
        if (!await(arrived, deadline, timeout) && nothingArrived()) {
          return null;
        }
      }
      Frame frame = receiveWindow.poll();
      if (frame == null) {
        return terminal;
      }
      grantFor(frame);
      return frame;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for RESPONSE. */
  WireFields awaitResponse(Duration timeout) {
    Frame frame = nextOrFail(timeout);
    return switch (frame.type()) {
      case Wire.RESPONSE -> WireFields.parse(frame.payload());
      case Wire.ERROR -> throw error(frame).exception(connection.id());
      default ->
          throw protocolViolation("a frame of type " + frame.type() + " instead of RESPONSE");
    };
  }

  /** Waits for END, for operations without any other reply. */
  WireFields awaitEnd(Duration timeout) {
    Frame frame = nextOrFail(timeout);
    return switch (frame.type()) {
      case Wire.END -> WireFields.parse(frame.payload());
      case Wire.ERROR -> throw error(frame).exception(connection.id());
      default -> throw protocolViolation("a frame of type " + frame.type() + " instead of END");
    };
  }

  /** Waits for the next frame; cancels the stream when interrupted or timed out. */
  Frame nextOrFail(Duration timeout) {
    Frame frame;
    try {
      frame = next(timeout);
    } catch (InterruptedException e) {
      throw interrupted();
    }
    if (frame == null) {
      cancel();
      throw timedOut(timeout);
    }
    return frame;
  }

  /** Parses an ERROR frame; an invalid one closes the connection. */
  RemoteError error(Frame frame) {
    try {
      return RemoteError.of(WireFields.parse(frame.payload()));
    } catch (ProtocolViolation e) {
      throw protocolViolation(e.getMessage());
    }
  }

  /** Cancels the stream and discards what still arrives. Does nothing when the stream is over. */
  void cancel() {
    lock.lock();
    try {
      if (!discarding && !over()) {
        discard();
        connection.sendControl(Wire.frame(Wire.CANCEL, number));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Cancels the stream and also discards what has arrived. */
  void cancelAndDiscard() {
    lock.lock();
    try {
      cancel();
      receiveWindow.clear();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes a port connection as TCP does: what was sent still arrives, what is received is
   * discarded. Cancels the stream after a while if the other side does not close.
   */
  void linger() {
    lock.lock();
    try {
      if (!discarding && !over()) {
        lingering = true;
        sendWindow.sendEof();
        discard();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Cancels the stream and waits until the agent has undone the operation, at most for {@code
   * timeout}.
   */
  void cancelAndWait(Duration timeout) {
    cancel();
    long deadline = deadline(timeout);
    lock.lock();
    try {
      while (!over() && await(arrived, deadline, timeout)) {
        // Until the terminal frame or the timeout.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Cancels a stream whose RESPONSE has not arrived; calls {@code undo} with it if it arrives
   * later.
   */
  void abandon(Consumer<WireFields> undo) {
    Frame late;
    lock.lock();
    try {
      late = receiveWindow.poll();
      onLateHead = undo;
      discard();
    } finally {
      lock.unlock();
    }
    if (late != null && late.type() == Wire.RESPONSE) {
      undo.accept(WireFields.parse(late.payload()));
    }
    connection.sendControl(Wire.frame(Wire.CANCEL, number));
  }

  /** Returns true once a terminal frame was received or the connection was lost. */
  boolean isOver() {
    lock.lock();
    try {
      return over();
    } finally {
      lock.unlock();
    }
  }

  /** Returns why the connection was lost; null when it was not. */
  @Nullable CloseReason closeReason() {
    lock.lock();
    try {
      return closeReason;
    } finally {
      lock.unlock();
    }
  }

  /** Cancels the stream because the calling thread was interrupted, and restores the interrupt. */
  SandboxException interrupted() {
    cancel();
    Thread.currentThread().interrupt();
    return CloseReason.cancelled(connection.id(), operation.toString());
  }

  SandboxException timedOut(Duration timeout) {
    if (operation.isMutating()) {
      return new CloseReason(
              CloseReason.Kind.SILENT, "no reply to " + operation + " within " + timeout)
          .exception(connection.id(), true);
    }
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the agent did not answer " + operation + " within " + timeout.toMillis() + " ms",
            "try again; if the problem persists, destroy the sandbox")
        .sandbox(connection.id())
        .exception();
  }

  /** Closes the connection because a frame has invalid content. */
  SandboxException protocolViolation(@Nullable String violation) {
    CloseReason reason = connection.protocolViolation(String.valueOf(violation));
    return reason.exception(connection.id(), operation.isMutating());
  }

  private void discardFrame(Frame frame) {
    if (lingering) {
      grantFor(frame);
    }
    frame.release();
    Consumer<WireFields> undo = onLateHead;
    if (undo != null && frame.type() == Wire.RESPONSE) {
      undo.accept(WireFields.parse(frame.payload()));
    }
  }

  private void grantFor(Frame frame) {
    int grant = receiveWindow.consume(frame);
    if (grant > 0 && !over()) {
      connection.sendControl(Wire.credit(number, grant));
    }
  }

  private void discard() {
    discarding = true;
    discardedAtNanos = System.nanoTime();
    receiveWindow.clear();
    arrived.signalAll();
    sendWindow.stop();
  }

  private boolean nothingArrived() {
    return receiveWindow.isEmpty() && !over() && !discarding;
  }

  private boolean over() {
    return terminal != null || closeReason != null;
  }

  static long deadline(Duration timeout) {
    return timeout.isZero() ? 0 : System.nanoTime() + timeout.toNanos();
  }

  /** Waits once; callers loop. */
  @SuppressWarnings("WaitNotInLoop")
  static boolean await(Condition condition, long deadline, Duration timeout)
      throws InterruptedException {
    if (timeout.isZero()) {
      condition.await();
      return true;
    }
    return condition.awaitNanos(deadline - System.nanoTime()) > 0;
  }
}
