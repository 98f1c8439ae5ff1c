package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A command on a terminal in a sandbox. The output stream resumes by itself after a broken
 * connection or a restart of the server. Input written in between is held back; input in flight
 * when the connection broke may or may not have arrived.
 *
 * <p>Input may be written before any output is read. Only one thread may read, and it must do so
 * eventually: unread output blocks the command. All other methods are thread-safe. Closing
 * detaches; the command keeps running.
 */
public final class Terminal implements AutoCloseable {
  private static final String PROTOCOL = "isola.terminal.v1";

  /** Time between two attempts of a writer to find or open a connection. */
  private static final Duration RETRY_DELAY = Duration.ofMillis(50);

  private final Transport transport;
  private final ApiPath endpoint;
  private final String id;
  private final ReconnectBackoff backoff;

  /** Held while connecting, so that a reader and a writer do not open two connections. */
  private final ReentrantLock connecting = new ReentrantLock();

  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable TerminalConnection connection;
  private @Nullable Map<String, Object> size;
  private volatile @Nullable Exit exit;
  private volatile long offset;

  /** Bytes that a new connection repeats, because they arrived while a writer opened it. */
  private long repeated;

  private volatile boolean reading;
  private volatile boolean closed;
  private volatile Consumer<Boolean> connectionListener = ignored -> {};

  Terminal(Transport transport, ApiPath sandbox, String id, long offset) {
    this.transport = transport;
    this.id = id;
    this.endpoint = sandbox.resolve("executions", id);
    this.offset = offset;
    this.backoff = new ReconnectBackoff(transport.options().reconnectFor());
  }

  /** Returns the id of the execution. Pass it to {@link Sandbox#attach} to continue later. */
  public String id() {
    return id;
  }

  /** Returns the offset of the next output. */
  public long offset() {
    return offset;
  }

  /**
   * Calls {@code action} with false when the connection is lost, and with true when it is
   * established again.
   */
  public void onConnection(Consumer<Boolean> action) {
    connectionListener = action;
  }

  /**
   * Waits for the next output. Returns empty once the command has exited and all output is read.
   */
  public Optional<Output> read() {
    reading = true;
    try {
      return readNext();
    } finally {
      reading = false;
    }
  }

  private Optional<Output> readNext() {
    while (exit == null) {
      TerminalConnection from = null;
      try {
        from = connection();
        Optional<Output> piece = decode(from.next());
        if (piece.isPresent()) {
          return piece;
        }
      } catch (IOException e) {
        disconnect(from);
        awaitRetry(explained(e));
      } catch (InterruptedException e) {
        throw Transport.cancelled(e);
      } catch (IsolaException e) {
        disconnect(from);
        awaitRetry(e);
      }
    }
    return Optional.empty();
  }

  private @Nullable TerminalConnection current() {
    lock.lock();
    try {
      return connection;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the connection, and opens it if there is none. */
  private TerminalConnection connection() throws IOException {
    connecting.lock();
    try {
      TerminalConnection open = current();
      return open == null ? connect() : open;
    } finally {
      connecting.unlock();
    }
  }

  private TerminalConnection connect() throws IOException {
    TerminalConnection opened =
        TerminalConnection.open(
            transport, endpoint.resolve("terminal").query("offset", offset), PROTOCOL);
    lock.lock();
    try {
      if (size != null) {
        opened.send(text(size));
      }
      connection = opened;
    } catch (IOException e) {
      opened.close();
      throw e;
    } finally {
      lock.unlock();
    }
    if (closed) {
      disconnect(opened); // close() ran before there was a connection to close
      throw new IOException("the terminal is closed");
    }
    connectionListener.accept(true);
    return opened;
  }

  /**
   * Returns the reason for a failed connection. A rejected WebSocket handshake carries no problem,
   * so a request for the execution fetches it.
   */
  private IsolaException explained(IOException e) {
    if (!(e instanceof WebSocketHandshakeException refused)) {
      return transport.unreachable(e);
    }
    int status = refused.getResponse().statusCode();
    if (status != 503) {
      transport.get(endpoint); // throws if the execution or the key is the cause
    }
    return transport.byStatus(status, "").exception(e);
  }

  /** Waits before the next connection, or throws if there is none to be expected. */
  private void awaitRetry(IsolaException failure) {
    if (closed) {
      throw Problem.clientSide("CANCELLED", "the terminal was closed", "attach to it again")
          .exception();
    }
    if (!Transport.isTransient(failure)) {
      throw failure;
    }
    connectionListener.accept(false);
    backoff.awaitRetry(failure);
  }

  /** Closes a connection. Another one that has replaced it stays. */
  private void disconnect(@Nullable TerminalConnection old) {
    if (old == null) {
      return;
    }
    lock.lock();
    try {
      if (connection == old) {
        connection = null;
      }
    } finally {
      lock.unlock();
    }
    old.close();
  }

  private Optional<Output> decode(TerminalConnection.Message item) throws IOException {
    return switch (item) {
      case TerminalConnection.Message.Bytes(ByteBuffer bytes) -> {
        backoff.dataReceived();
        int known = (int) Math.min(repeated, bytes.remaining());
        repeated -= known;
        bytes.position(bytes.position() + known);
        byte[] content = new byte[bytes.remaining()];
        bytes.get(content);
        Output.Data data = new Output.Data(Output.Channel.TERMINAL, offset, content);
        offset = data.end();
        yield content.length == 0 ? Optional.empty() : Optional.of(data);
      }
      case TerminalConnection.Message.Text(String message) -> {
        backoff.dataReceived();
        yield decodeText(message);
      }
      case TerminalConnection.Message.Closed(int status) ->
          throw new IOException("the connection was closed with status " + status);
    };
  }

  private Optional<Output> decodeText(String message) throws IOException {
    JsonFields fields = fields(message);
    switch (fields.text("type")) {
      case "attached", "gap" -> {
        return skipTo(fields.integer("offset"));
      }
      case "exit" -> {
        exit = Exit.read(fields.all());
        disconnect(current());
      }
      case "error" -> throw Execution.streamError(fields).exception();
      default -> {} // message type of a newer server
    }
    return Optional.empty();
  }

  private Optional<Output> skipTo(long to) {
    repeated = Math.max(0, offset - to);
    if (to <= offset) {
      return Optional.empty();
    }
    Output.Gap gap = new Output.Gap(offset, to - offset);
    offset = to;
    return Optional.of(gap);
  }

  private static JsonFields fields(String message) throws IOException {
    try {
      return JsonFields.parse(message);
    } catch (MalformedJson e) {
      throw new IOException("a message is malformed", e);
    }
  }

  /** Discards the remaining output and returns how the command ended. */
  public Exit await() {
    while (read().isPresent()) {
      // Unread output would block the command.
    }
    Exit end = exit;
    if (end == null) {
      throw new IllegalStateException("the output ended before the command exited");
    }
    return end;
  }

  /** Returns the input of the terminal. A write waits while the connection is lost. */
  public OutputStream stdin() {
    return new Keys();
  }

  /** Sets the window size. Sent again after each reconnection. */
  public void resize(int rows, int cols) {
    Map<String, Object> message = Map.of("type", "resize", "rows", rows, "cols", cols);
    TerminalConnection to;
    lock.lock();
    try {
      size = message;
      to = connection;
    } finally {
      lock.unlock();
    }
    if (to != null) {
      try {
        to.send(text(message));
      } catch (IOException e) {
        // Sent with the next connection.
      }
    }
  }

  /** Sends a signal such as TERM, SIGTERM or 15. */
  public void signal(String signal) {
    transport.post(endpoint.resolve("signal"), Map.of("signal", signal));
  }

  private static String text(Map<String, Object> message) {
    return Json.text(message);
  }

  @Override
  public void close() {
    closed = true;
    disconnect(current());
  }

  private final class Keys extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      Deadline until = Deadline.in(transport.options().reconnectFor());
      TerminalConnection failed = null;
      while (true) {
        TerminalConnection to = connected(failed, until);
        try {
          to.send(bytes, from, length);
          return;
        } catch (IOException e) {
          failed = to;
        }
      }
    }

    /**
     * Returns a connection other than {@code failed}. A thread that reads reconnects by itself;
     * without one, the writer does.
     */
    private TerminalConnection connected(@Nullable TerminalConnection failed, Deadline until)
        throws IOException {
      while (true) {
        TerminalConnection open = current();
        if (open != null && open != failed) {
          return open;
        }
        if (closed || exit != null || until.over()) {
          throw new IOException("the terminal is closed or the server is unreachable");
        }
        if (!reading) {
          disconnect(open);
          try {
            return connection();
          } catch (IOException e) {
            throwUnlessTransient(e);
          }
        }
        RetryDelay.sleep(RETRY_DELAY);
      }
    }

    private void throwUnlessTransient(IOException e) throws IOException {
      IsolaException reason;
      try {
        reason = explained(e);
      } catch (IsolaException cause) {
        reason = cause;
      }
      if (!Transport.isTransient(reason)) {
        throw new IOException(reason.getMessage(), reason);
      }
    }
  }
}
