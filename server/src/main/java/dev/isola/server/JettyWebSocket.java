package dev.isola.server;

import dev.isola.codec.time.Deadline;
import dev.isola.server.route.WebSocket;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.Configuration;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.OpCode;
import org.eclipse.jetty.websocket.core.exception.MessageTooLargeException;
import org.jspecify.annotations.Nullable;

/**
 * A WebSocket on Jetty. Demands a frame only when the caller receives one and sends one frame at a
 * time, so at most one frame per direction is in memory.
 */
final class JettyWebSocket implements FrameHandler, WebSocket {
  /** How long sending a frame may take when the client does not read. */
  static final Duration WRITE_TIMEOUT = Duration.ofSeconds(60);

  private static final int MAX_TEXT = 4096;
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private final RequestLifetime lifetime;
  private final Session handler;
  private final BlockingQueue<Message> arrived = new LinkedBlockingQueue<>();
  private final StringBuilder text = new StringBuilder();
  private volatile @Nullable CoreSession session;
  private volatile long lastFrameAt = System.nanoTime();
  private volatile boolean waiting;
  private volatile boolean closed;
  private boolean inText;

  JettyWebSocket(RequestLifetime lifetime, Session handler) {
    this.lifetime = lifetime;
    this.handler = handler;
  }

  static void configure(Configuration configuration) {
    configuration.setMaxFrameSize(LARGEST_FRAME);
    configuration.setAutoFragment(false);
    configuration.setInputBufferSize(4096);
    configuration.setOutputBufferSize(4096);
    configuration.setIdleTimeout(Duration.ZERO); // liveness is checked by pings
  }

  @Override
  public void onOpen(CoreSession opened, Callback callback) {
    session = opened;
    callback.succeeded();
    lifetime.runDetached("isola-socket", this::runSession);
  }

  private void runSession() {
    try {
      handler.run(this);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is shutting down
    } finally {
      close(CloseStatus.SHUTDOWN, "");
      Deadline deadline = Deadline.in(CLOSE_TIMEOUT);
      try {
        while (!closed && !deadline.over()) {
          receive(CLOSE_TIMEOUT);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      abort();
    }
  }

  private CoreSession session() {
    CoreSession now = session;
    if (now == null) {
      throw new IllegalStateException("the socket is not open");
    }
    return now;
  }

  @Override
  public void onFrame(Frame frame, Callback callback) {
    lastFrameAt = System.nanoTime();
    switch (frame.getOpCode()) {
      case OpCode.PING, OpCode.PONG -> {
        callback.succeeded();
        session().demand();
      }
      case OpCode.CLOSE -> {
        end();
        callback.succeeded();
      }
      case OpCode.TEXT -> {
        inText = true;
        text(frame, callback);
      }
      case OpCode.BINARY -> {
        inText = false;
        binary(frame, callback);
      }
      default -> {
        if (inText) {
          text(frame, callback);
        } else {
          binary(frame, callback);
        }
      }
    }
  }

  private void binary(Frame frame, Callback callback) {
    byte[] bytes = BufferUtil.toArray(frame.getPayload());
    callback.succeeded();
    enqueue(new Message.Binary(bytes));
  }

  private void text(Frame frame, Callback callback) {
    if (text.length() + frame.getPayloadLength() > MAX_TEXT) {
      callback.failed(new MessageTooLargeException("a text message is longer than " + MAX_TEXT));
      return;
    }
    // A split character becomes U+FFFD, which no valid message contains.
    text.append(BufferUtil.toString(frame.getPayload(), StandardCharsets.UTF_8));
    callback.succeeded();
    if (frame.isFin()) {
      String whole = text.toString();
      text.setLength(0);
      enqueue(new Message.Text(whole));
    } else {
      session().demand();
    }
  }

  private void enqueue(Message message) {
    waiting = false;
    arrived.add(message);
  }

  private void end() {
    closed = true;
    enqueue(new Message.Closed());
  }

  @Override
  public void onError(Throwable cause, Callback callback) {
    end();
    callback.succeeded();
  }

  @Override
  public void onClosed(CloseStatus status, Callback callback) {
    end();
    callback.succeeded();
  }

  @Override
  public Message receive() throws InterruptedException {
    Message message = receive(Duration.ofDays(1));
    return message == null ? receive() : message;
  }

  private @Nullable Message receive(Duration timeout) throws InterruptedException {
    Message ready = arrived.poll();
    if (ready == null && closed) {
      return new Message.Closed();
    }
    if (ready == null && !waiting) {
      lastFrameAt = System.nanoTime();
      waiting = true;
      session().demand();
    }
    return ready == null ? arrived.poll(timeout.toNanos(), TimeUnit.NANOSECONDS) : ready;
  }

  @Override
  public void send(ByteBuffer bytes) throws IOException {
    send(new Frame(OpCode.BINARY, true, bytes));
  }

  @Override
  public void send(String words) throws IOException {
    send(new Frame(OpCode.TEXT, true, words));
  }

  @Override
  public void ping() throws IOException {
    send(new Frame(OpCode.PING, true, ByteBuffer.allocate(0)));
  }

  private void send(Frame frame) throws IOException {
    CompletableFuture<@Nullable Void> sent = new CompletableFuture<>();
    session()
        .sendFrame(
            frame, Callback.from(() -> sent.complete(null), sent::completeExceptionally), false);
    try {
      sent.get(WRITE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException("the peer disconnected", e.getCause());
    } catch (TimeoutException e) {
      abort();
      throw new IOException("the peer did not read for " + WRITE_TIMEOUT, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while sending");
    }
  }

  @Override
  public Duration idleTime() {
    return waiting ? Duration.ofNanos(System.nanoTime() - lastFrameAt) : Duration.ZERO;
  }

  @Override
  public void close(int code, String reason) {
    if (!closed && session().isOutputOpen()) {
      session().close(code, reason, Callback.NOOP);
    }
  }

  @Override
  public void abort() {
    session().abort();
  }
}
