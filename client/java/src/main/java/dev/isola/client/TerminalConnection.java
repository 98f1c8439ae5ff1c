package dev.isola.client;

import java.io.IOException;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A WebSocket connection to a terminal. Requests a message only after the previous one is consumed,
 * so that a slow reader throttles the command. Pings detect a dead connection.
 */
final class TerminalConnection implements WebSocket.Listener, AutoCloseable {
  private static final int MAX_TEXT = 64 * 1024;
  private static final long PING_NANOS = Duration.ofSeconds(10).toNanos();
  private static final Duration SEND_TIMEOUT = Duration.ofSeconds(30);

  /** A received message: bytes, text, or the close of the connection. */
  sealed interface Message {
    record Bytes(ByteBuffer bytes) implements Message {}

    record Text(String text) implements Message {}

    record Closed(int status) implements Message {}
  }

  private final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
  private final ReentrantLock sending = new ReentrantLock();
  private final StringBuilder text = new StringBuilder();
  private @Nullable WebSocket socket;
  private volatile long lastReceived = System.nanoTime();
  private long lastPing = System.nanoTime();

  private TerminalConnection() {}

  static TerminalConnection open(Transport transport, ApiPath endpoint, String protocol)
      throws IOException {
    TerminalConnection connection = new TerminalConnection();
    connection.socket = transport.webSocket(endpoint, protocol, connection);
    return connection;
  }

  /**
   * Waits for the next message.
   *
   * @throws IOException if nothing is received within the idle timeout, not even a pong
   */
  Message next() throws IOException, InterruptedException {
    WebSocket from = socket();
    while (true) {
      Message item = messages.poll(500, TimeUnit.MILLISECONDS);
      if (item != null) {
        if (!(item instanceof Message.Closed)) {
          from.request(1);
        }
        return item;
      }
      long now = System.nanoTime();
      if (now - lastReceived > Transport.IDLE_TIMEOUT.toNanos()) {
        throw new IOException("no data received for " + Transport.IDLE_TIMEOUT.toSeconds() + " s");
      }
      if (now - lastPing > PING_NANOS) {
        lastPing = now;
        send(from.sendPing(ByteBuffer.allocate(0)));
      }
    }
  }

  void send(byte[] bytes, int from, int length) throws IOException {
    sending.lock();
    try {
      send(socket().sendBinary(ByteBuffer.wrap(bytes, from, length), true));
    } finally {
      sending.unlock();
    }
  }

  void send(String message) throws IOException {
    sending.lock();
    try {
      send(socket().sendText(message, true));
    } finally {
      sending.unlock();
    }
  }

  private static void send(CompletableFuture<WebSocket> sent) throws IOException {
    try {
      sent.get(SEND_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException("writing to the terminal failed", e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("the server does not accept data", e);
    } catch (InterruptedException e) {
      throw Transport.cancelled(e);
    }
  }

  private WebSocket socket() {
    WebSocket opened = socket;
    if (opened == null) {
      throw new IllegalStateException("the connection is not open");
    }
    return opened;
  }

  @Override
  public void onOpen(WebSocket from) {
    from.request(1);
  }

  @Override
  public @Nullable CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
    lastReceived = System.nanoTime();
    messages.add(new Message.Bytes(ByteBuffer.allocate(data.remaining()).put(data).flip()));
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    lastReceived = System.nanoTime();
    if (text.length() + data.length() > MAX_TEXT) {
      messages.add(new Message.Closed(WebSocket.NORMAL_CLOSURE + 9)); // 1009: message too big
      return null;
    }
    text.append(data);
    if (last) {
      messages.add(new Message.Text(text.toString()));
      text.setLength(0);
    } else {
      from.request(1);
    }
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPing(WebSocket from, ByteBuffer message) {
    lastReceived = System.nanoTime();
    from.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPong(WebSocket from, ByteBuffer message) {
    lastReceived = System.nanoTime();
    from.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket from, int status, String reason) {
    messages.add(new Message.Closed(status));
    return null;
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    messages.add(new Message.Closed(1006)); // 1006: closed abnormally
  }

  /** Closes the connection. The command on the terminal keeps running. */
  @Override
  public void close() {
    WebSocket opened = socket;
    if (opened == null) {
      return;
    }
    if (!opened.isOutputClosed()) {
      try {
        opened.sendClose(WebSocket.NORMAL_CLOSURE, "").get(1, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException | IllegalStateException e) {
        // The connection is already broken.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    opened.abort();
    messages.add(new Message.Closed(WebSocket.NORMAL_CLOSURE)); // wakes up a waiting reader
  }
}
