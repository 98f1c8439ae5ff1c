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
  private final Supplier<ApiPath> address;
  private final String what;
  private final ReconnectBackoff patience;
  private volatile @Nullable SseReader stream;
  private volatile boolean closed;

  /**
   * @param address returns the path to reconnect at
   * @param what subject of the error message if the stream is closed during a read
   */
  ReconnectingStream(Transport transport, Supplier<ApiPath> address, String what) {
    this.transport = transport;
    this.address = address;
    this.what = what;
    patience = new ReconnectBackoff(transport.options().reconnectFor());
  }

  SseReader connect() {
    SseReader opened = new SseReader(transport.openOnce(address.get()));
    stream = opened;
    patience.connected();
    return opened;
  }

  /** Waits for the next event and returns it decoded. */
  <T> T next(EventDecoder<T> reading) {
    while (true) {
      try {
        SseReader from = stream;
        if (from == null) {
          from = connect();
        }
        SseReader.Event event = from.next().orElseThrow(() -> new EOFException("the stream ended"));
        patience.dataReceived();
        return reading.decode(event);
      } catch (IOException e) {
        again(transport.unreachable(e));
      } catch (IsolaException e) {
        if (!Transport.isTransient(e)) {
          throw e;
        }
        again(e);
      }
    }
  }

  private void again(IsolaException failure) {
    disconnect();
    if (closed) {
      throw Problem.clientSide("CANCELLED", what + " closed", "open it again").exception();
    }
    patience.awaitRetry(failure);
  }

  void disconnect() {
    SseReader old = stream;
    stream = null;
    if (old != null) {
      old.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
  }
}
