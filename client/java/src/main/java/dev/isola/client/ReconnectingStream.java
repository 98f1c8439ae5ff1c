package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import java.io.EOFException;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Event stream that reconnects at the current position after a broken connection or a restart of
 * the server. Only one thread may read; any thread may close.
 */
final class ReconnectingStream implements AutoCloseable {

  /** Decodes an event. A failure breaks the connection. */
  interface EventDecoder<T> {
    T decode(SseReader.Event event) throws IOException;
  }

  private final Transport transport;
  private final Supplier<ApiPath> endpoint;
  private final String what;
  private final ReconnectBackoff backoff;
  private volatile @Nullable SseReader stream;
  private volatile String lastId = "";
  private volatile boolean closed;

  /**
   * @param endpoint returns the path to reconnect at
   * @param what subject of the error message if the stream is closed during a read
   */
  ReconnectingStream(Transport transport, Supplier<ApiPath> endpoint, String what) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.what = what;
    backoff = new ReconnectBackoff(transport.options().reconnectFor());
  }

  SseReader connect() {
    SseReader opened = new SseReader(transport.openOnce(endpoint.get()));
    stream = opened;
    backoff.connected();
    return opened;
  }

  /** Waits for the next event and returns it decoded. */
  <T> T next(EventDecoder<T> decoder) {
    while (true) {
      try {
        SseReader from = stream;
        if (from == null) {
          from = connect();
        }
        SseReader.Event event = from.next().orElseThrow(() -> new EOFException("the stream ended"));
        backoff.dataReceived();
        return decoder.decode(event);
      } catch (IOException e) {
        reconnect(transport.unreachable(e));
      } catch (IsolaException e) {
        if (!Transport.isTransient(e)) {
          throw e;
        }
        reconnect(e);
      }
    }
  }

  private void reconnect(IsolaException failure) {
    disconnect();
    if (closed) {
      throw Problem.clientSide("CANCELLED", what + " closed", "open it again").exception();
    }
    backoff.awaitRetry(failure);
  }

  /** Returns the last id of the connections that have ended; empty if none. */
  String lastId() {
    return lastId;
  }

  void disconnect() {
    SseReader old = stream;
    stream = null;
    if (old != null) {
      lastId = old.lastId().isEmpty() ? lastId : old.lastId();
      old.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }
}
