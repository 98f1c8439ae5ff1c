package dev.isola.provider.kubernetes.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.spi.Secret;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The standard streams of a process in a container, over a WebSocket with the protocol {@code
 * v5.channel.k8s.io}: the first byte of each message names the stream. One thread reads while
 * another writes.
 */
public final class ExecStream implements AutoCloseable {
  private static final String PROTOCOL = "v5.channel.k8s.io";
  private static final byte STDIN = 0;
  private static final byte STDOUT = 1;
  private static final byte STDERR = 2;
  private static final byte STATUS = 3;

  /** How many pieces, of 16 KiB, arrive before the first of them is read. */
  private static final int WINDOW = 16;

  private static final int MAX_TEXT = 4096;
  private static final int PIECE = 64 * 1024;
  private static final byte[] END = {};

  private final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();
  private final ByteArrayOutputStream status = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final InputStream in = new Stdout();
  private final OutputStream out = new Stdin();
  private volatile @Nullable WebSocket socket;
  private volatile @Nullable IOException failure;

  private ExecStream() {}

  static ExecStream open(HttpClient http, URI address, Optional<Secret> token, Duration timeout)
      throws IOException {
    ExecStream stream = new ExecStream();
    WebSocket.Builder builder =
        http.newWebSocketBuilder().subprotocols(PROTOCOL).connectTimeout(timeout);
    token.ifPresent(
        secret -> builder.header("Authorization", "Bearer " + ClusterClient.text(secret.reveal())));
    CompletableFuture<WebSocket> opened = builder.buildAsync(address, stream.new Messages());
    try {
      stream.socket = opened.get(Math.max(1, timeout.toMillis()), TimeUnit.MILLISECONDS);
      return stream;
    } catch (TimeoutException e) {
      CompletableFuture<WebSocket> _ = opened.whenComplete((late, failed) -> abort(late));
      throw new IOException("no connection within " + timeout.toMillis() + " ms", e);
    } catch (InterruptedException e) {
      CompletableFuture<WebSocket> _ = opened.whenComplete((late, failed) -> abort(late));
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw refusal(e.getCause());
    }
  }

  private static void abort(@Nullable WebSocket late) {
    if (late != null) {
      late.abort();
    }
  }

  private static IOException refusal(@Nullable Throwable cause) {
    if (!(cause instanceof WebSocketHandshakeException refused)) {
      return new IOException(ClusterErrors.bounded(String.valueOf(cause)), cause);
    }
    int status = refused.getResponse().statusCode();
    return switch (status) {
      case 401 -> new Forbidden("the API server does not accept the credentials", refused);
      case 403 -> new Forbidden("to execute a command in a pod is forbidden", refused);
      default -> new IOException("the API server answers with status " + status, refused);
    };
  }

  /** The API server refuses the credentials, or they lack a permission. */
  public static final class Forbidden extends IOException {
    private static final long serialVersionUID = 1;

    Forbidden(String why, Throwable cause) {
      super(why, cause);
    }
  }

  /** Returns what the process writes to standard output. */
  public InputStream in() {
    return in;
  }

  /** Returns what the process reads from standard input. */
  public OutputStream out() {
    return out;
  }

  /** Returns why the process failed, as far as the cluster told, and the start of its errors. */
  public String failureText() {
    String text;
    synchronized (status) {
      text = status.toString(UTF_8);
    }
    String message = "";
    try {
      JsonValue parsed = JsonValue.parse(text.getBytes(UTF_8));
      message = parsed.text("status").equals("Success") ? "" : parsed.text("message");
    } catch (IOException notJson) {
      message = text;
    }
    synchronized (errors) {
      return ClusterErrors.bounded(message + " " + errors.toString(UTF_8));
    }
  }

  /** A time limit of a part of the conversation; closing it lifts the limit. */
  public interface Limit extends AutoCloseable {
    @Override
    void close();
  }

  /** Closes the connection at a deadline unless the limit is lifted, so no read lasts longer. */
  public Limit closeAt(Deadline deadline) {
    CompletableFuture<Void> lifted = new CompletableFuture<>();
    CompletableFuture<Object> over = CompletableFuture.anyOf(closed, lifted);
    Thread.ofVirtual()
        .name("kubernetes-exec-deadline")
        .start(
            () -> {
              try {
                over.get(deadline.left().toMillis() + 1, TimeUnit.MILLISECONDS);
              } catch (TimeoutException e) {
                close();
              } catch (InterruptedException | ExecutionException unused) {
                throw new IllegalStateException("the thread and the result are private", unused);
              }
            });
    return () -> lifted.complete(null);
  }

  private void end(@Nullable IOException why) {
    failure = why;
    closed.complete(null);
    received.add(END);
  }

  @Override
  public void close() {
    WebSocket open = socket;
    if (open != null) {
      open.abort();
    }
    end(failure);
  }

  private final class Messages implements WebSocket.Listener {
    private byte channel;
    private boolean inside;

    @Override
    public void onOpen(WebSocket opened) {
      opened.request(WINDOW);
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
      if (!inside && data.hasRemaining()) {
        channel = data.get();
        inside = true;
      }
      byte[] content = new byte[data.remaining()];
      data.get(content);
      inside = inside && !last;
      if (channel == STDOUT && content.length > 0) {
        received.add(content); // requested again when it has been read
        return null;
      }
      if (channel == STATUS) {
        append(status, content);
      } else if (channel == STDERR) {
        append(errors, content);
      }
      from.request(1);
      return null;
    }

    private static void append(ByteArrayOutputStream to, byte[] content) {
      synchronized (to) {
        to.write(content, 0, Math.min(content.length, MAX_TEXT - to.size()));
      }
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
      end(null);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      end(new IOException(ClusterErrors.bounded(String.valueOf(error)), error));
    }
  }

  private final class Stdout extends InputStream {
    private byte[] piece = END;
    private int at;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      while (at == piece.length) {
        piece = next();
        at = 0;
        if (piece.length == 0) {
          received.add(END); // for the next call
          IOException why = failure;
          if (why != null) {
            throw new IOException(why.getMessage(), why);
          }
          return -1;
        }
      }
      int count = Math.min(length, piece.length - at);
      System.arraycopy(piece, at, target, offset, count);
      at += count;
      WebSocket open = socket;
      if (at == piece.length && open != null) {
        open.request(1);
      }
      return count;
    }

    private byte[] next() throws InterruptedIOException {
      try {
        return received.take();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
    }
  }

  private final class Stdin extends OutputStream {
    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      for (int sent = 0; sent < length; sent += PIECE) {
        int count = Math.min(PIECE, length - sent);
        ByteBuffer message = ByteBuffer.allocate(count + 1);
        send(message.put(STDIN).put(source, offset + sent, count).flip());
      }
    }

    private void send(ByteBuffer message) throws IOException {
      WebSocket open = socket;
      if (open == null || closed.isDone()) {
        throw new IOException("the connection is closed");
      }
      CompletableFuture<WebSocket> sent = open.sendBinary(message, true);
      try {
        CompletableFuture.anyOf(sent, closed).get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      } catch (ExecutionException e) {
        throw new IOException(ClusterErrors.bounded(String.valueOf(e.getCause())), e);
      }
      if (!sent.isDone()) {
        throw new IOException("the connection was closed");
      }
    }
  }
}
